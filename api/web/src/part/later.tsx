import { useSignal } from "@preact/signals";
import type { ComponentType } from "preact";
import { useEffect } from "preact/hooks";
import { t } from "../text";

/** What is fetched where it is needed, as part says, and shown with the other properties. quiet: nothing stands in its place. */
export function Later<P extends object>({ part, quiet, ...rest }: { part: () => Promise<ComponentType<P>>; quiet?: boolean } & P) {
  const came = useSignal<{ Part?: ComponentType<P> }>({});
  const broken = useSignal(false);
  const fetch = () => {
    broken.value = false;
    part().then((Part) => (came.value = { Part }), () => (broken.value = true));
  };
  useEffect(fetch, []);
  const Part = came.value.Part;
  if (Part) return <Part {...(rest as unknown as P)} />;
  if (quiet) return null;
  if (!broken.value) return <main class="loading" aria-busy="true" />;
  return <main class="signin"><p role="alert">{t("offline")}</p><button class="main" onClick={fetch}>{t("tryAgain")}</button></main>;
}
