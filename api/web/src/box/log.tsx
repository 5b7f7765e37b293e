import { useSignal } from "@preact/signals";
import { useId } from "preact/hooks";
import { clock, codeText, t } from "../text";
import { shortDay } from "../part/when";
import { Doing } from "../part/form";
import { BoxPage } from "./frame";
import { useLines, zone } from "./part";
import { fetchFile } from "./transfer";

interface Line {
  id: number;
  at: number;
  level: string;
  text: string;
}

const levels = ["debug", "info", "warn", "error"];

/** Downloads what helps whoever looks for a fault, without anything about the household. */
const support = async () => void (await fetchFile("support", {}, { progress: () => {}, stop: new AbortController().signal }));

/** What the box has logged lately, newest first. */
export function Log() {
  const id = useId();
  const level = useSignal("info");
  const { answer, lines, button } = useLines<Line>(`log?level=${level.value}&limit=200`, 10);
  return (
    <BoxPage title="bxLog" answer={answer} under={t("bxLogText")}>
      <p class="row">
        <label for={id}>{t("bxLevel")}</label>
        <select id={id} value={level.value} onChange={(e) => (level.value = e.currentTarget.value)}>{levels.map((l) => <option key={l} value={l}>{codeText("bxLevel_", l)}</option>)}</select>
      </p>
      {answer.value && lines.length === 0 && <p class="note">{t("bxLogNone")}</p>}
      <ul class="bx-log">
        {lines.map((l) => (
          <li key={l.id} data-level={l.level.toLowerCase()}>
            <small>{shortDay(l.at, zone())} {clock(l.at, zone())} · {codeText("bxLevel_", l.level.toLowerCase()) || l.level}</small>
            <code>{l.text}</code>
          </li>
        ))}
      </ul>
      {button}
      <section class="bx-section">
        <h2>{t("bxSupport")}</h2>
        <p>{t("bxSupportText")}</p>
        <Doing text={t("exportYes")} run={support} />
      </section>
    </BoxPage>
  );
}
