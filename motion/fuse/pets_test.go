package fuse_test

import "testing"

// TestPetModeWantsMotionThatManyLinksSee: of six links or more, and after what was wide once is over.
func TestPetModeWantsMotionThatManyLinksSee(t *testing.T) {
	t.Parallel()
	pets := defaults
	pets.Pets = true
	before := repeat("q", 8) // 4 samples
	walk, quiet := before+repeat("s", 20), before+repeat("q", 20)
	home := func(moving, links int, walk, quiet script) (all []script) {
		for i := range links {
			if i < moving {
				all = append(all, walk)
			} else {
				all = append(all, quiet)
			}
		}
		return all
	}
	for name, c := range map[string]struct {
		pets    bool
		scripts []script
		want    int
	}{
		"one link of six":                  {true, home(1, 6, walk, quiet), 0},
		"one link of six, no pets":         {false, home(1, 6, walk, quiet), 8},
		"two links of six":                 {true, home(2, 6, walk, quiet), 0},
		"three links of six":               {true, home(3, 6, walk, quiet), 8},
		"one link of five: too few to say": {true, home(1, 5, walk, quiet), 8},
		"six links, of which four are silent": {true, append(home(1, 2, walk, quiet),
			home(0, 4, walk, before+repeat("x", 20))...), 8},
		"a pet, then from sample 14 on a person": {true, append(home(3, 3, quiet+repeat("s", 20), ""),
			home(1, 3, walk+repeat("s", 20), quiet+repeat("q", 20))...), 18},
	} {
		config := defaults
		if c.pets {
			config = pets
		}
		if got := detectedAt(config, c.scripts...); got != c.want {
			t.Errorf("%s: detected at sample %d, want %d", name, got, c.want)
		}
	}
}
