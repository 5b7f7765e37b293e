import { useSignal } from "@preact/signals";
import { useId } from "preact/hooks";
import { useAnswer } from "../answer";
import { sure } from "../part/dialog";
import { Holder } from "../part/signform";
import { t } from "../text";
import { BoxPage } from "./frame";
import { bytes, row, since, when } from "./part";
import { Restore } from "./restore";
import { fetchFile, useTransfer } from "./transfer";

interface Backups {
  backups: { at: number; size: number }[];
  directory: string;
}

/** Backups: those on the box, one to take away, and one to put in place. */
export function Backup() {
  const answer = useAnswer<Backups>(row("backups"), 60);
  const list = answer.value?.backups;
  const truth = list && (list.length > 0 ? `${t("bxLastBackup")} ${since(list[0].at)}` : t("bxBackupNone"));
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
function strength(phrase: string): "" | "short" | "weak" | "good" {
  if (phrase === "") return "";
  if (phrase.length < least) return "short";
  return phrase.length < 16 || new Set(phrase).size < 9 ? "weak" : "good";
}

/** Downloads a backup: under a passphrase that is typed twice, or as it is, once what that means was typed. */
function Take() {
  const id = useId();
  const phrase = useSignal("");
  const again = useSignal("");
  const seen = useSignal(false);
  const { run, bar, busy, wrong } = useTransfer(t("bxTake"), t("bxMaking"));
  const get = (fields: object) => run(async (way) => {
    const name = await fetchFile("backup", fields, way);
    phrase.value = again.value = "";
    return t("bxTaken", { name });
  });
  const submit = (e: SubmitEvent) => {
    e.preventDefault();
    if (phrase.value !== again.value) wrong.value = t("bxPhraseDiffers");
    else void get({ passphrase: phrase.value });
  };
  const plain = async () => {
    if (await sure(t("bxPlainTitle"), t("bxPlainWhy"), t("exportYes"), t("bxPlainType"))) await get({ plain: true });
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
      {!busy && (
        <form class="form" onSubmit={submit}>
          <Holder email={t("bxBackup")} />
          {field("p", t("bxPhrase"), phrase)}
          <div class="bx-strength" data-is={how} id={id + "h"}><span aria-hidden="true" /><small>{t(how === "" ? "bxPhraseHint" : how === "short" ? "bxPhraseShort" : how === "weak" ? "bxPhraseWeak" : "bxPhraseGood")}</small></div>
          {field("q", t("bxPhraseAgain"), again)}
          <label class="check"><input type="checkbox" checked={seen.value} onChange={() => (seen.value = !seen.value)} /> {t("bxShow")}</label>
          <div class="row"><button class="main">{t("exportYes")}</button><button type="button" onClick={plain}>{t("bxPlainTitle")}</button></div>
        </form>
      )}
      {bar}
    </section>
  );
}
