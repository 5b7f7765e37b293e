// Calibration of links: begun here, it runs on the box.

import { useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { useAnswer } from "../answer";
import { call } from "../api";
import { refusal } from "../text";
import { su, suCode } from "../words/setup";
import type { SetupHome } from "./setup";

/** A calibration as GET /web/v1/calibrations tells of it. */
interface Calibration {
  id: string; // of the link
  outcome: "none" | "running" | "done" | "disturbed" | "cancelled" | "failed" | "repeat";
  progress: number | null; // 0 to 1
}

const rank = ["done", "none", "cancelled", "disturbed", "failed", "repeat"]; // the worst of several counts

/** Calibrates one link, or all where link is "", and shows how far it is and how it ended. */
export function Calibrate({ home, link, again }: { home: SetupHome; link: string; again: () => Promise<void> }) {
  const busy = useSignal(false);
  const wrong = useSignal("");
  const said = useSignal("");
  const quick = useSignal(false);
  const answer = useAnswer<{ calibrations: Calibration[] }>(`/web/v1/calibrations?network_id=${home.id}`, quick.value ? 1 : 15);
  const own = (answer.value?.calibrations ?? []).filter((c) => link === "" || c.id === link);
  const running = own.filter((c) => c.outcome === "running");
  const far = running.length === 0 ? 0 : running.reduce((sum, c) => sum + (c.progress ?? 0), 0) / running.length;
  const before = useRef(0);
  useEffect(() => {
    quick.value = running.length > 0;
    if (before.current > 0 && running.length === 0 && answer.value) { // it has ended: how?
      const worst = own.map((c) => c.outcome).sort((a, b) => rank.indexOf(b) - rank.indexOf(a))[0];
      said.value = suCode("suCalibrated_", worst ?? "");
      void again();
    }
    before.current = running.length;
  }, [answer.value]);
  const act = async (method: "POST" | "DELETE") => {
    busy.value = true;
    wrong.value = said.value = "";
    try {
      await (method === "POST"
        ? call("POST", "/web/v1/calibrations", { network_id: home.id, link })
        : call("DELETE", `/web/v1/calibrations?network_id=${home.id}&link=${encodeURIComponent(link)}`));
      await answer.again();
    } catch (e) {
      wrong.value = refusal(e);
    }
    busy.value = false;
  };
  const text = su("suCalibrating", { n: Math.floor(100 * far) });
  return (
    <div class="su-calibrate">
      {running.length > 0 ? (
        <>
          <p><progress max={1} value={far} aria-label={su("suCalibrate")} /> <small>{text}</small></p>
          <button disabled={busy.value} onClick={() => act("DELETE")}>{su("suCalibrateCancel")}</button>
        </>
      ) : (
        <>
          <p><small>{su("suCalibrateHelp")}</small></p>
          <button disabled={busy.value} onClick={() => act("POST")}>{su(link ? "suCalibrate" : "suCalibrateAll")}</button>
        </>
      )}
      <p role="status">{said}</p>
      <p class="wrong" role="alert">{wrong || (answer.refusal && refusal(answer.refusal))}</p>
    </div>
  );
}
