// Putting a backup in place, in two steps: it is sent and checked, and then, once it was seen whose and
// of when it is, takes the place of what the box holds.

import { useSignal } from "@preact/signals";
import { useEffect, useId, useRef } from "preact/hooks";
import { useAnswer } from "../answer";
import { call, dropProof, Refusal, stepUp } from "../api";
import { sure } from "../part/dialog";
import { Doing } from "../part/form";
import { Holder } from "../part/signform";
import { counted } from "../part/when";
import { leave, now } from "../state";
import { list, refusal, span, t } from "../text";
import { ask, bytes, Facts, row, when } from "./part";
import { sendForm } from "./transfer";

interface Staged {
  installed_at: number;
  made_at: number | null;
  size: number;
  networks: number;
  users: number;
  homes: string[];
  owners: string[];
  uploaded_at: number;
  by: string;
}

interface State {
  staged: Staged | null;
  last: { at: number; by: string; ok: boolean; text: string } | null;
}

export function Restore() {
  const answer = useAnswer<State>(row("restore"), 30);
  const waiting = useSignal(false);
  const s = answer.value;
  return (
    <section class="card bx-section">
      <h2>{t("bxRestore")}</h2>
      {waiting.value ? <Back before={s?.last?.at ?? 0} /> : s?.staged ? <Check of={s.staged} again={answer.again} begun={() => (waiting.value = true)} /> : s && <Send again={answer.again} />}
      {answer.refusal && !waiting.value && <p class="wrong" role="alert">{refusal(answer.refusal)}</p>}
      {s?.last && !waiting.value && <p><small>{t(s.last.ok ? "bxRestoreLast" : "bxRestoreLastBad", { time: when(s.last.at), who: s.last.by })} {s.last.text}</small></p>}
    </section>
  );
}

/** The first step: a file, and its passphrase if it has one. */
function Send({ again }: { again: () => Promise<void> }) {
  const id = useId();
  const file = useSignal<File | undefined>(undefined);
  const phrase = useSignal("");
  const wrong = useSignal("");
  const far = useSignal<{ bytes: number; of: number } | undefined>(undefined);
  const stop = useRef<AbortController>();
  const send = async () => {
    const form = new FormData();
    form.set("passphrase", phrase.value);
    form.set("file", file.value!);
    stop.current = new AbortController();
    far.value = { bytes: 0, of: file.value!.size };
    await sendForm<Staged>("restore", form, (bytes, of) => (far.value = { bytes, of }), stop.current.signal);
    await again();
  };
  const submit = async (e: SubmitEvent) => {
    e.preventDefault();
    wrong.value = "";
    try {
      // A file may be large: the password is asked for before it goes, and not when it is there.
      const session = await call<{ stepped_up?: boolean }>("GET", "/web/v1/session");
      if (session.stepped_up || (await stepUp())) await send();
    } catch (e) {
      wrong.value = stop.current?.signal.aborted ? "" : refusal(e);
    }
    far.value = undefined;
  };
  if (far.value) {
    const { bytes: sent, of } = far.value;
    return (
      <div class="bx-progress">
        <progress max={of} value={sent < of ? sent : undefined} aria-label={t("bxSend")} />
        <p role="status">{sent < of ? <span aria-hidden="true">{bytes(sent) + " / " + bytes(of)}</span> : t("bxChecking")}</p>
        <button onClick={() => stop.current?.abort()}>{t("cancel")}</button>
      </div>
    );
  }
  return (
    <form class="form" onSubmit={submit}>
      <p>{t("bxRestoreText")}</p>
      <label for={id + "f"}>{t("bxFile")}</label>
      <input id={id + "f"} type="file" accept=".age,.db,.backup" required={!file.value} onChange={(e) => (file.value = e.currentTarget.files?.[0])} />
      <Holder email={t("bxBackup")} />
      <label for={id + "p"}>{t("bxFilePhrase")}</label>
      <input id={id + "p"} type="password" autocomplete="off" maxLength={512} value={phrase.value} onInput={(e) => (phrase.value = e.currentTarget.value)} />
      <p class="wrong" role="alert">{wrong}</p>
      <div><button>{t("bxSend")}</button></div>
    </form>
  );
}

/** The second step: whose it is and of when, and what would be lost. */
function Check({ of, again, begun }: { of: Staged; again: () => Promise<void>; begun: () => void }) {
  const home = of.homes[0] || t("bxRestoreType");
  const apply = async () => {
    const lost = of.made_at === null ? t("bxRestoreLosesAll") : t("bxRestoreLoses", { time: when(of.made_at), span: span(Math.max(0, now.value - of.made_at)) });
    if (!(await sure(t("bxRestoreSure"), lost, t("bxRestoreYes"), home))) return;
    await ask("POST", "restore/apply");
    begun();
  };
  return (
    <div class="bx-section">
      <p><strong>{t("bxStaged")}</strong></p>
      <Facts
        of={[
          [t("bxStagedHomes"), of.homes.length > 0 ? list(of.homes) : counted("bxHomes", of.networks)],
          [t("bxStagedOwners"), of.owners.length > 0 ? list(of.owners) : t("bxNone")],
          [t("bxStagedMade"), of.made_at === null ? t("bxUnknown") : when(of.made_at)],
          [t("bxStagedBox"), when(of.installed_at)],
          [t("bxAccounts"), String(of.users)],
          [t("bxSize"), bytes(of.size)],
          [t("bxStagedBy"), `${of.by}, ${when(of.uploaded_at)}`],
        ]}
      />
      <p class="bx-warn">{of.made_at === null ? t("bxRestoreLosesAll") : t("bxRestoreLoses", { time: when(of.made_at), span: span(Math.max(0, now.value - of.made_at)) })}</p>
      <div class="row">
        <Doing text={t("bxRestoreYes")} run={apply} bad />
        <Doing text={t("bxRestoreDrop")} run={async () => { await ask("DELETE", "restore"); await again(); }} />
      </div>
    </div>
  );
}

const pause = 1500; // ms between two questions whether the box is back
const long = 120_000; // ms, after which it takes longer than it should

/** Waits until the box has stopped, put the backup in place and is back: then one signs in anew. */
function Back({ before }: { before: number }) {
  const late = useSignal(false);
  useEffect(() => {
    let ended = false;
    let away = false; // it has been seen to be gone
    const begun = Date.now();
    const look = async () => {
      try {
        await call("GET", "/web/v1/boot");
        if (!away) { // it may have been away between two questions
          const s = await call<State>("GET", row("restore"));
          away = s.last !== null && s.last.at > before;
        }
        if (away && !ended) {
          dropProof();
          return leave();
        }
      } catch (e) {
        away ||= e instanceof Refusal && (e.status === 0 || e.status === 503);
      }
      late.value = Date.now() - begun > long;
      if (!ended) timer = window.setTimeout(look, pause);
    };
    let timer = window.setTimeout(look, pause);
    return () => {
      ended = true;
      clearTimeout(timer);
    };
  }, []);
  return (
    <div class="bx-progress">
      <progress aria-label={t("bxRestore")} />
      <p role="status">{t(late.value ? "bxBackLate" : "bxBack")}</p>
    </div>
  );
}
