import { common } from "./common.fr";
import { home } from "./home.fr";
import { me } from "./me.fr";
import type { Messages } from "./en";

export const messages: Messages = { ...common, ...home, ...me };
