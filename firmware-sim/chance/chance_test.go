package chance

import (
	"testing"

	"pgregory.net/rapid"
)

func TestNumbersRepeatAndStayInRange(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		seed, key := rapid.Uint64().Draw(t, "seed"), rapid.Uint64().Draw(t, "key")
		low := rapid.Float64Range(-100, 100).Draw(t, "low")
		v := Between(low, low+1, seed, key)
		if v < low || v >= low+1 || v != Between(low, low+1, seed, key) {
			t.Fatalf("between %v and %v: %v", low, low+1, v)
		}
		if Mix(seed, key) == Mix(seed+1, key) || Mix(seed, key) == Mix(seed, key+1) {
			t.Fatal("neighbours collide")
		}
	})
}

func TestUnitIsEven(t *testing.T) {
	t.Parallel()
	var counts [10]int
	const n = 100_000
	for i := range uint64(n) {
		counts[int(10*Unit(7, i))]++
	}
	for tenth, count := range counts {
		if count < n/10-500 || count > n/10+500 {
			t.Errorf("tenth %d has %d of %d", tenth, count, n)
		}
	}
}
