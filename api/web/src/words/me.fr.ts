import type { me as english } from "./me.en";

export const me: typeof english = {
  me: "Moi",
};
