// Writes the yearly statements of customers.
#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

namespace
{

struct Booking {
	int day;
	long cents;
	const char *purpose;
};

std::vector<Booking> load_bookings(std::uint32_t customer)
{
	static const char *const purposes[] = {"rent", "salary", "groceries", "electricity", "insurance"};
	std::vector<Booking> bookings;
	std::uint32_t state = customer * 2654435761u + 1;

	for (int i = 0; i < 1000; i++) {
		state = state * 1664525u + 1013904223u;
		bookings.push_back({i * 365 / 1000, static_cast<long>(state >> 12), purposes[state % 5]});
	}
	return bookings;
}

std::string format_amount(long cents)
{
	char text[32];

	std::snprintf(text, sizeof(text), "%ld.%02ld", cents / 100, cents % 100);
	return text;
}

std::string render_statement(const std::vector<Booking> &bookings)
{
	std::string text;
	long balance = 0;

	for (const Booking &booking : bookings) {
		balance += booking.cents;
		text = text + std::to_string(booking.day) + ";" + booking.purpose + ";" +
		       format_amount(booking.cents) + ";" + format_amount(balance) + "\n";
	}
	return text;
}

std::uint64_t seal_statement(const std::string &text)
{
	std::uint64_t seal = 14695981039346656037u;

	for (unsigned char c : text)
		seal = (seal ^ c) * 1099511628211u;
	return seal;
}

} // namespace

int main()
{
	std::uint64_t seals = 0;

	for (std::uint32_t customer = 0; customer < 400; customer++)
		seals ^= seal_statement(render_statement(load_bookings(customer)));
	std::printf("seals %016llx\n", static_cast<unsigned long long>(seals));
	return 0;
}
