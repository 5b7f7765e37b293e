import { useId } from "preact/hooks";
import { useAnswer } from "../answer";
import { useAct } from "../part/act";
import { sure } from "../part/dialog";
import { Doing, Fields } from "../part/form";
import { counted } from "../part/when";
import { codeText, span, t } from "../text";
import { su } from "../words/setup";
import { BoxPage } from "./frame";
import { ask, bytes, New, number, row, when } from "./part";
import { fetchFile, useTransfer } from "./transfer";

interface Recording {
  name: string;
  started: number;
  ended: number | null;
  left_s: number;
  frames: number;
  dropped: number;
  bytes: number;
  label: string;
  why: string;
}

interface Home {
  id: number;
  name: string;
  links: { link: string; from: string; to: string }[];
}

interface Answer {
  homes: Home[];
  running?: Recording;
  busy: boolean;
  recordings: Recording[];
}

const labels = ["empty", "still", "moving"];

/** How much a recording holds. */
const held = (r: Recording) => [counted("bxFrames", r.frames), bytes(r.bytes), r.dropped > 0 && t("bxDropped", { n: number(r.dropped) })].filter(Boolean).join(" · ");

/** Recordings of the raw signal: the one that runs, with what happens now, and those that are complete. */
export function Recordings() {
  const answer = useAnswer<Answer>(row("recordings"), 2);
  const d = answer.value;
  const truth = d && (d.running ? t("bxRecordRuns", { time: span(d.running.left_s) }) : d.recordings.length > 0 ? counted("bxRecordTruth", d.recordings.length) : t("bxRecordNone"));
  return (
    <BoxPage title="bxRecord" truth={truth} answer={answer} under={t("bxRecordText")}>
      {d?.running && <Running of={d.running} again={answer.again} />}
      {d && !d.running && (d.homes.length === 0 ? <p class="note">{t("bxRecordNoHome")}</p> : d.busy ? <p class="note">{t("bxRecordBusy")}</p> : <Start homes={d.homes} open={d.recordings.length === 0} again={answer.again} />)}
      {d && d.recordings.length > 0 && <Kept of={d.recordings} again={answer.again} />}
    </BoxPage>
  );
}

/** The recording that runs. A tap on what happens already takes it back. */
function Running({ of: r, again }: { of: Recording; again: () => Promise<void> }) {
  const { busy, wrong, act } = useAct(again);
  const title = useId();
  return (
    <section class="card bx-section">
      <h2 id={title}>{t("bxRecordNow")}</h2>
      <div class="bx-labels" role="group" aria-labelledby={title}>
        {labels.map((l) => <button key={l} aria-pressed={r.label === l} disabled={busy} onClick={() => act(() => ask("PUT", "recordings/label", { label: r.label === l ? "" : l }))}>{codeText("bxLabel_", l)}</button>)}
      </div>
      <p>{t("bxRecordHint")}</p>
      <p class="bx-value">{held(r)}</p>
      <p class="wrong" role="alert">{wrong}</p>
      <div><button disabled={busy} onClick={() => act(() => ask("POST", "recordings/stop"))}>{t("bxRecordStop")}</button></div>
    </section>
  );
}

/** Begins a recording of a home. */
function Start({ homes, open, again }: { homes: Home[]; open: boolean; again: () => Promise<void> }) {
  const id = useId();
  const start = async (form: FormData) => {
    const [network_id, links] = [Number(form.get("network")), form.getAll("link").map(String)];
    await ask("POST", "recordings", { network_id, minutes: Number(form.get("minutes")), links: links.filter((l) => l.startsWith(network_id + " ")).map((l) => l.slice(l.indexOf(" ") + 1)) });
    await again();
    return "";
  };
  return (
    <New title={t("bxRecordNew")} open={open}>
      <Fields main yes={t("bxRecordYes")} send={start}>
        <label for={id + "h"}>{t("bxFor")}</label>
        <select id={id + "h"} name="network">{homes.map((h) => <option key={h.id} value={h.id}>{h.name}</option>)}</select>
        <label for={id + "m"}>{t("bxMinutes")}</label>
        <input id={id + "m"} name="minutes" type="number" min={1} max={240} required defaultValue="10" />
        <fieldset class="bx-links">
          <legend>{t("bxRecordLinks")}</legend>
          {homes.map((h) => h.links.map((l) => <label key={h.id + l.link} class="check"><input type="checkbox" name="link" value={`${h.id} ${l.link}`} /> {su("suBetween", { from: l.from, to: l.to })}</label>))}
        </fieldset>
      </Fields>
    </New>
  );
}

/** The complete ones. */
function Kept({ of, again }: { of: Recording[]; again: () => Promise<void> }) {
  const { run, bar, busy } = useTransfer(t("exportYes"), t("bxMaking"));
  const take = (r: Recording) => run(async (way) => t("bxRecordTaken", { name: await fetchFile(`recordings/${r.name}/download`, {}, way) }));
  const remove = async (r: Recording) => {
    if (!(await sure(t("remove", { name: when(r.started) }), t("bxRecordDeleteWhy"), t("removeYes")))) return;
    await ask("DELETE", "recordings/" + r.name);
    await again();
  };
  return (
    <section class="bx-section">
      {bar}
      <ul class="list bx-list">
        {of.map((r) => (
          <li key={r.name}>
            <span class="grow"><strong>{when(r.started)}</strong><br /><small>{[span(r.ended! - r.started), held(r), codeText("bxWhy_", r.why)].filter(Boolean).join(" · ")}</small></span>
            <button disabled={busy} onClick={() => take(r)}>{t("exportYes")}<span class="hidden"> {when(r.started)}</span></button>
            <Doing text={<>{t("removeYes")}<span class="hidden"> {when(r.started)}</span></>} run={() => remove(r)} />
          </li>
        ))}
      </ul>
    </section>
  );
}
