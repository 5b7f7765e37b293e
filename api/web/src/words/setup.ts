// The words of the set-up, which come with those of all screens that are fetched when they are opened.

import { codeText, language, t } from "../text";
import type { setup } from "./setup.en";

export type SetupKey = keyof typeof setup;

/** Returns a message of the set-up, with {name} replaced by the value of that name. */
export const su = (key: SetupKey, values: Record<string, string | number> = {}) => t(key, values);

/** The words for a code that the appliance gives, "" for one that is not known. */
export const suCode = codeText;

/** A message in the form for n things: of the keys PREFIX_one and PREFIX_other. */
export const suCounted = (prefix: string, n: number, values: Record<string, string | number>) =>
  codeText(prefix, new Intl.PluralRules(language.value).select(n) === "one" ? "_one" : "_other", { n, ...values });
