// Prices orders by a table of rates: one line per article, "ARTICLE;REGION;PRICE;DISCOUNT".
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

namespace
{

constexpr std::uint32_t articles = 20000;
constexpr std::uint32_t regions = 4;

struct Rate {
	double price, discount;
};

std::vector<Rate> load_rates(const char *path)
{
	std::vector<Rate> rates(articles * regions);
	std::ifstream file(path);
	std::string line;

	while (std::getline(file, line)) {
		std::istringstream fields(line);
		std::uint32_t article, region;
		Rate rate{};
		char letter, separator;

		fields >> letter >> article >> separator >> letter >> region >> separator;
		fields >> rate.price >> separator >> rate.discount;
		rates.at(article * regions + region) = rate;
	}
	return rates;
}

double price_order(const std::vector<Rate> &rates, std::uint32_t order)
{
	double sum = 0;

	for (std::uint32_t item = 0; item < 500; item++) {
		std::uint32_t number = (order * 2654435761u + item * 40503u) % (articles * regions);

		sum += rates[number].price * (1 - rates[number].discount) * (1 + item % 3);
	}
	return sum;
}

} // namespace

int main()
{
	const std::vector<Rate> rates = load_rates("rates.txt");
	double sum = 0;

	for (std::uint32_t order = 0; order < 120000; order++)
		sum += price_order(rates, order);
	std::printf("%.2f\n", sum);
	return 0;
}
