// The words of the set-up, which are fetched with its screens: the first view does without them.

import { computed, effect, signal } from "@preact/signals";
import { fill, language, type Language } from "../text";
import { reason } from "./reason.en";
import { setup } from "./setup.en";

const english = { ...setup, ...reason };
export type SetupKey = keyof typeof english;

const fetchWords: Record<Exclude<Language, "en">, () => Promise<typeof english>> = {
  de: () => Promise.all([import("./setup.de"), import("./reason.de")]).then(([s, r]) => ({ ...s.setup, ...r.reason })),
  fr: () => Promise.all([import("./setup.fr"), import("./reason.fr")]).then(([s, r]) => ({ ...s.setup, ...r.reason })),
};

const words = signal<{ of: Language; words: typeof english }>({ of: "en", words: english });

effect(() => {
  const wanted = language.value;
  if (wanted === "en") words.value = { of: wanted, words: english };
  // When they cannot be fetched, the English ones are better than none.
  else void fetchWords[wanted]().catch(() => english).then((w) => language.peek() === wanted && (words.value = { of: wanted, words: w }));
});

/** Whether the words are those of the reader's language yet. */
export const worded = computed(() => words.value.of === language.value);

/** Returns a message of the set-up, with {name} replaced by the value of that name. */
export const su = (key: SetupKey, values: Record<string, string | number> = {}) => fill(words.value.words[key], values);

/** The words for a code that the appliance gives, "" for one that is not known. */
export function suCode(prefix: string, code: string, values: Record<string, string | number> = {}): string {
  const key = (prefix + code) as SetupKey;
  return key in english ? su(key, values) : "";
}

/** A message in the form for n things: of the keys PREFIX_one and PREFIX_other. */
export const suCounted = (prefix: string, n: number, values: Record<string, string | number>) =>
  suCode(prefix, new Intl.PluralRules(language.value).select(n) === "one" ? "_one" : "_other", { n, ...values });
