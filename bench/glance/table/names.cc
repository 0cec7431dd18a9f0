/* Names of several hundred characters: templates of the standard library's containers. */
#include <cstdio>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace warehouse::inventory::details
{
template <class Key, class Value> class shelf {
public:
	__attribute__((noinline)) void count_items(const std::map<Key, std::vector<std::shared_ptr<Value>>> &items,
						   const std::vector<std::pair<std::string, std::map<int, Value>>> &others)
	{
		for (const auto &item : items) {
			for (const auto &one : item.second)
				sum = sum * 31 + static_cast<unsigned long>(one->size());
		}
		sum += others.size();
	}

	unsigned long sum = 0;
};
}

int main()
{
	std::map<std::string, std::vector<std::shared_ptr<std::string>>> items;
	warehouse::inventory::details::shelf<std::string, std::string> shelf;

	for (int i = 0; i < 2000; i++)
		items[std::to_string(i * 7919 % 2000)].push_back(std::make_shared<std::string>(i % 13, 'x'));
	for (int i = 0; i < 25000; i++)
		shelf.count_items(items, {});
	std::printf("%lu\n", shelf.sum);
	return 0;
}
