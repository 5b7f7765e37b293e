// The screens of who looks after the box, with words of their own.

import "./shared"; // so that the first view is one file of the bundle, and what groups share another (CONTRIBUTING.md)

import { Screen } from "../box/box";
import { addWords, fetchWords, type Language } from "../text";
import { box as english } from "../words/box.en";
import { unpack } from "../words/pack";

const words = {
  en: async () => english,
  de: () => import("../words/box.de").then((m) => m.box),
  fr: () => import("../words/box.fr").then((m) => m.box),
};

/** The screen, once its words are there. */
export async function box() {
  await fetchWords();
  await addWords(async (of: Language) => unpack(await words[of]()));
  return Screen;
}
