import { useSignal } from "@preact/signals";
import { useId, useRef } from "preact/hooks";
import { useAnswer } from "../answer";
import { sure } from "../part/dialog";
import { Doing } from "../part/form";
import { Holder } from "../part/signform";
import { refusal, t } from "../text";
import { BoxPage } from "./frame";
import { bytes, row, since, when } from "./part";
import { Restore } from "./restore";
import { fetchFile } from "./transfer";

interface Backups {
  backups: { at: number; size: number }[];
  directory: string;
}

/** Backups: those on the box, one to take away, and one to put in place. */
export function Backup() {
  const answer = useAnswer<Backups>(row("backups"), 60);
  const list = answer.value?.backups;
  const truth = list && (list.length > 0 ? t("bxBackupTruth", { time: since(list[0].at) }) : t("bxBackupNone"));
  return (
    <BoxPage title="bxBackup" truth={truth} answer={answer}>
      <Take />
      {answer.value && (
        <section class="bx-section">
          <h2>{t("bxNightly")}</h2>
          <p>{t("bxNightlyText", { folder: answer.value.directory })}</p>
          <ul class="list bx-list">
            {answer.value.backups.map((b) => <li key={b.at}><span class="grow">{when(b.at)}</span><small>{bytes(b.size)}</small></li>)}
          </ul>
        </section>
      )}
      <Restore />
    </BoxPage>
  );
}

const least = 12; // characters of a passphrase

/** How well a passphrase withstands guessing: by its length and how many different characters it has. */
export function strength(phrase: string): "short" | "weak" | "fair" | "good" {
  if (phrase.length < least) return "short";
  const different = new Set(phrase).size;
  if (different < 6) return "weak";
  return phrase.length >= 20 && different >= 10 ? "good" : "fair";
}

/** Downloads a backup: under a passphrase that is typed twice, or as it is, once what that means was typed. */
function Take() {
  const id = useId();
  const phrase = useSignal("");
  const again = useSignal("");
  const seen = useSignal(false);
  const wrong = useSignal("");
  const said = useSignal("");
  const far = useSignal<{ bytes: number; of: number } | undefined>(undefined);
  const stop = useRef<AbortController>();
  const get = async (fields: object) => {
    stop.current = new AbortController();
    wrong.value = said.value = "";
    far.value = { bytes: 0, of: 0 };
    try {
      said.value = t("bxTaken", { name: await fetchFile("backup", fields, (bytes, of) => (far.value = { bytes, of }), stop.current.signal) });
      phrase.value = again.value = "";
    } catch (e) {
      wrong.value = stop.current.signal.aborted ? "" : refusal(e);
    }
    far.value = undefined;
  };
  const submit = (e: SubmitEvent) => {
    e.preventDefault();
    if (phrase.value !== again.value) return void (wrong.value = t("bxPhraseDiffers"));
    void get({ passphrase: phrase.value });
  };
  const plain = async () => {
    if (await sure(t("bxPlainTitle"), t("bxPlainWhy"), t("bxDownload"), t("bxPlainType"))) await get({ plain: true });
  };
  const how = strength(phrase.value);
  const field = (name: string, label: string, of: { value: string }) => (
    <>
      <label for={id + name}>{label}</label>
      <input id={id + name} type={seen.value ? "text" : "password"} autocomplete="new-password" minLength={least} maxLength={512} required value={of.value} aria-describedby={id + "h"} onInput={(e) => (of.value = e.currentTarget.value)} />
    </>
  );
  return (
    <section class="card bx-section">
      <h2>{t("bxTake")}</h2>
      <p>{t("bxTakeText")}</p>
      {far.value ? (
        <div class="bx-progress">
          <progress max={far.value.of || undefined} value={far.value.of ? far.value.bytes : undefined} aria-label={t("bxTake")} />
          <p>{far.value.bytes > 0 ? bytes(far.value.bytes) + (far.value.of ? " / " + bytes(far.value.of) : "") : t("bxMaking")}</p>
          <button onClick={() => stop.current?.abort()}>{t("cancel")}</button>
        </div>
      ) : (
        <form class="form" onSubmit={submit}>
          <Holder email={t("bxBackup")} />
          {field("p", t("bxPhrase"), phrase)}
          <div class="bx-strength" data-is={phrase.value === "" ? "" : how} id={id + "h"}><span aria-hidden="true" /><small>{t(phrase.value === "" ? "bxPhraseHint" : how === "short" ? "bxPhraseShort" : how === "weak" ? "bxPhraseWeak" : how === "fair" ? "bxPhraseFair" : "bxPhraseGood")}</small></div>
          {field("q", t("bxPhraseAgain"), again)}
          <label class="check"><input type="checkbox" checked={seen.value} onChange={() => (seen.value = !seen.value)} /> {t("show")}</label>
          <div class="row"><button class="main">{t("bxDownload")}</button></div>
        </form>
      )}
      <p class="wrong" role="alert">{wrong}</p>
      <p class="done" role="status">{said}</p>
      {!far.value && (
        <details>
          <summary>{t("bxPlain")}</summary>
          <p>{t("bxPlainText")}</p>
          <Doing text={t("bxPlainTitle")} run={plain} bad />
        </details>
      )}
    </section>
  );
}
