// The screens of who looks after the box, with words of their own.

import { Screen } from "../box/box";
import { addWords, fetchWords, type Language } from "../text";
import { box } from "../words/box.en";

const words = {
  en: async () => box,
  de: () => import("../words/box.de").then((m) => m.box),
  fr: () => import("../words/box.fr").then((m) => m.box),
};

/** The screen, once its words are there. */
export async function fetched() {
  await fetchWords();
  await addWords((of: Language) => words[of]());
  return { Screen };
}
