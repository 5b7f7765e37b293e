import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { call } from "../api";
import { place } from "../route";
import { refresh, type Overview } from "../state";
import { refusal, t } from "../text";

/** What the viewers of the demo can do with the simulated home. */
export function DemoBar({ o }: { o: Overview }) {
  const said = useSignal<"" | "demoWalking">("");
  const wrong = useSignal("");
  const busy = useSignal(false);
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
  return (
    <section class="demobar" aria-label={t("demoBar")}>
      <p>{t("demoBar")}</p>
      <p class="acts">
        <button disabled={busy} onClick={() => act("demoWalking", "/web/v1/demo", { action: "walk" })}>{t("demoWalk")}</button>
        <button disabled={busy} onClick={unplug}>{o.unplugged ? t("demoPlug", { name: o.unplugged }) : t("demoUnplug")}</button>
        <button disabled={busy || o.home.scene === "away" || o.home.away_at > 0} onClick={() => act("", "/web/v1/away", {})}>{t("demoLeave")}</button>
      </p>
      <p role="status" class={place.value.screen === "" || wrong.value ? undefined : "hidden"}>{o.unplugged ? t("demoUnplugged", { name: o.unplugged }) : wrong.value || t(said.value || "demoHint")}</p>
    </section>
  );
}
