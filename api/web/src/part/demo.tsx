import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { call } from "../api";
import { place } from "../route";
import { refresh, type Overview } from "../state";
import { refusal, t } from "../text";

const closedKey = "sensegate-demo-closed";

/** What of the bar somebody has closed in this window: "hint", or "bar" for all but its title. */
function closed(): string {
  try {
    return sessionStorage.getItem(closedKey) ?? "";
  } catch {
    return "";
  }
}

/** What the viewers of the demo can do with the simulated home. */
export function DemoBar({ o }: { o: Overview }) {
  const said = useSignal<"" | "demoWalking">("");
  const wrong = useSignal("");
  const busy = useSignal(false);
  const shut = useSignal(closed());
  const close = (what: string) => {
    shut.value = what;
    try {
      sessionStorage.setItem(closedKey, what);
    } catch {
      // it is open again with the next page
    }
  };
  const act = async (words: "" | "demoWalking", path: string, body: object) => {
    busy.value = true;
    try {
      await call("POST", path, { network_id: o.home.id, ...body });
      said.value = words;
      wrong.value = "";
      await refresh();
    } catch (e) {
      wrong.value = refusal(e);
    }
    busy.value = false;
  };
  useEffect(() => { // what comes of it is told by no frame
    const timer = setInterval(refresh, 5000);
    return () => clearInterval(timer);
  }, []);
  const unplug = () => act("", "/web/v1/demo", { action: "unplug" });
  const hint = t("demoHint");
  const text = wrong.value || (o.unplugged ? t("demoUnplugged", { name: o.unplugged }) : said.value ? t(said.value) : shut.value ? "" : hint);
  const shown = text !== "" && shut.value !== "bar" && (place.value.screen === "" || wrong.value !== "");
  return (
    <section class="demobar" aria-label={t("demoBar")}>
      <button class="title" aria-expanded={shut.value !== "bar"} onClick={() => close(shut.value === "bar" ? "hint" : "bar")}>{t("demoBar")}</button>
      <p class="acts" hidden={shut.value === "bar"}>
        <button disabled={busy} onClick={() => act("demoWalking", "/web/v1/demo", { action: "walk" })}>{t("demoWalk")}</button>
        <button disabled={busy} onClick={unplug}>{o.unplugged ? t("demoPlug", { name: o.unplugged }) : t("demoUnplug")}</button>
        <button disabled={busy || o.home.scene === "away" || o.home.away_at > 0} onClick={() => act("", "/web/v1/away", {})}>{t("demoLeave")}</button>
      </p>
      <div class={shown ? "told" : "hidden"}>
        <p role="status">{text}</p>
        {shown && text === hint && <button class="quietly" aria-label={t("demoHintClose")} onClick={() => close("hint")}>✕</button>}
      </div>
    </section>
  );
}
