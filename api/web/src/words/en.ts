import { common } from "./common.en";
import { home } from "./home.en";
import { me } from "./me.en";

/** Every message, in English: the other languages have the same. */
export const messages = { ...common, ...home, ...me };

export type Messages = typeof messages;
