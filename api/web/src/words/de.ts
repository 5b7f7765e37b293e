import { common } from "./common.de";
import { home } from "./home.de";
import { me } from "./me.de";
import type { Messages } from "./en";

export const messages: Messages = { ...common, ...home, ...me };
