// Calls that are left by exceptions; names that are mangled.
#include <string>

namespace shop
{
struct Error {
	int number;
};

struct Cart {
	int total = 0;
	void add(int price)
	{
		if (price < 0)
			throw Error{price};
		total += price;
	}
};

int buy(int price)
{
	Cart cart;
	cart.add(1);
	cart.add(price);
	return cart.total;
}
}

int try_to_buy(int price)
{
	try {
		return shop::buy(price);
	} catch (const shop::Error &error) {
		return error.number;
	}
}

int main()
{
	int sum = 0;
	for (int i = -2; i < 3; i++)
		sum += try_to_buy(i);
	return sum == 1000;
}
