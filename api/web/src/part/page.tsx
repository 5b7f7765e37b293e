import { signal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useEffect, useRef } from "preact/hooks";
import type { Answer } from "../answer";
import { refusal, t } from "../text";

/** The title of the screen that is shown, "" for home's. */
export const screenTitle = signal("");

/** A screen: its one heading, which gets the focus when the screen opens, and what it shows. */
export function Page({ title, kind = "", heading = title, children }: { title: string; kind?: string; heading?: ComponentChildren; children: ComponentChildren }) {
  const h1 = useRef<HTMLHeadingElement>(null);
  useEffect(() => h1.current?.focus(), []);
  useEffect(() => {
    screenTitle.value = title;
  }, [title]);
  return (
    <main class={"screen " + kind}>
      <h1 tabIndex={-1} ref={h1}>{heading}</h1>
      {children}
    </main>
  );
}

/** Says that an answer is awaited, or why there is none, or that what is shown is old. */
export function Waiting({ answer }: { answer: Answer<unknown> }) {
  if (answer.refusal)
    return (
      <p class="note" role="alert">
        {refusal(answer.refusal)} {answer.value !== undefined && t("oldShown")} <button onClick={() => void answer.again()}>{t("tryAgain")}</button>
      </p>
    );
  return answer.value === undefined ? <p class="loading" aria-busy="true">{t("loading")}</p> : null;
}
