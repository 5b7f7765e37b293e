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
import { sendForm, useTransfer } from "./transfer";

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
  const before = useRef(0); // when the last one was put in place
  const begun = () => {
    before.current = s?.last?.at ?? 0;
    waiting.value = true;
  };
  return (
    <section class="card bx-section">
      <h2>{t("bxRestore")}</h2>
      {waiting.value ? <Back before={before.current} failed={() => { waiting.value = false; void answer.again(); }} /> : s?.staged ? <Check of={s.staged} again={answer.again} begun={begun} /> : s && <Send again={answer.again} />}
      {answer.refusal && !waiting.value && <p class="wrong" role="alert">{refusal(answer.refusal)}</p>}
      {s?.last && !waiting.value && <p><small>{t(s.last.ok ? "bxRestoreLast" : "bxRestoreLastBad", { time: when(s.last.at), who: s.last.by })} {s.last.text}</small></p>}
    </section>
  );
}

/** The first step: a file, and its passphrase if it has one. */
function Send({ again }: { again: () => Promise<void> }) {
  const id = useId();
  const { run, bar, busy } = useTransfer(t("bxSend"), t("bxChecking"));
  const submit = async (e: SubmitEvent) => {
    e.preventDefault();
    const form = new FormData(e.currentTarget as HTMLFormElement);
    await run(async (way) => {
      // A file may be large: the password is asked for before it goes, and not when it is there.
      const session = await call<{ stepped_up?: boolean }>("GET", "/web/v1/session");
      if (session.stepped_up || (await stepUp())) await sendForm("restore", form, way);
      await again();
      return "";
    });
  };
  return (
    <>
      <form class="form" hidden={busy} onSubmit={submit}>
        <p>{t("bxRestoreText")}</p>
        <Holder email={t("bxBackup")} />
        <label for={id + "p"}>{t("bxFilePhrase")}</label>
        <input id={id + "p"} name="passphrase" type="password" autocomplete="off" maxLength={512} />
        <label for={id + "f"}>{t("bxFile")}</label>
        <input id={id + "f"} name="file" type="file" required />
        <div><button class="main">{t("bxSend")}</button></div>
      </form>
      {bar}
    </>
  );
}

/** The second step: whose it is and of when, and what would be lost. */
function Check({ of, again, begun }: { of: Staged; again: () => Promise<void>; begun: () => void }) {
  const home = of.homes[0] || t("bxRestoreType");
  const lost = of.made_at === null ? t("bxRestoreLosesAll") : t("bxRestoreLoses", { time: when(of.made_at), span: span(Math.max(0, now.value - of.made_at)) });
  const apply = async () => {
    if (!(await sure(t("bxRestore"), lost, t("bxRestoreYes"), home))) return;
    try {
      await ask("POST", "restore/apply", { uploaded_at: of.uploaded_at });
    } catch (e) {
      if (!(e instanceof Refusal) || e.status !== 0) throw e; // else it may be gone before it answers
    }
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
      <p class="bx-warn">{lost}</p>
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
function Back({ before, failed }: { before: number; failed: () => void }) {
  const late = useSignal(false);
  useEffect(() => {
    let ended = false;
    let away = false; // it has been seen to be gone
    const begun = Date.now();
    const out = () => {
      if (ended) return;
      dropProof();
      leave();
    };
    const look = async () => {
      try {
        await call("GET", "/web/v1/boot");
        const last = (await call<State>("GET", row("restore"))).last;
        const outcome = last && last.at > before ? last : null; // it may have been away between two questions
        if (outcome && !outcome.ok) return failed();
        if (outcome || away) return out();
      } catch (e) {
        const status = e instanceof Refusal ? e.status : 0;
        if (away && (status === 403 || status === 404)) return out(); // one may not look after it any more
        away ||= status === 0 || status === 503;
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
