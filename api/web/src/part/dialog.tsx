// Questions that stand above a screen until they are answered.

import { signal, useSignal } from "@preact/signals";
import { useEffect, useId, useRef } from "preact/hooks";
import { call, onStepUp, Refusal } from "../api";
import { overview } from "../state";
import { refusal, t } from "../text";
import { Holder } from "./signform";

interface Question {
  kind: "password" | "sure";
  title: string;
  text: string;
  yes: string;
  type: string; // what is to be typed first, "" for nothing
  answer: (yes: boolean) => void;
}

const asked = signal<Question | undefined>(undefined);

function put(q: Omit<Question, "answer">): Promise<boolean> {
  asked.value?.answer(false);
  return new Promise((answer) => (asked.value = { ...q, answer }));
}

/** Asks whether to go on. type is what has to be typed first, for what cannot be undone. */
export const sure = (title: string, text: string, yes: string, type = "") => put({ kind: "sure", title, text, yes, type });

onStepUp(() => put({ kind: "password", title: t("stepUp"), text: t("stepUpWhy"), yes: t("goOn"), type: "" }));

/** The question that is asked now. */
export function Dialogs() {
  return asked.value ? <Ask key={asked.value.title} question={asked.value} /> : null;
}

function Ask({ question }: { question: Question }) {
  const dialog = useRef<HTMLDialogElement>(null);
  const field = useId();
  const title = useId();
  const wrong = useSignal("");
  const busy = useSignal(false);
  const typed = useSignal("");
  const before = useRef(document.activeElement);
  useEffect(() => {
    dialog.current?.showModal();
    return () => (before.current instanceof HTMLElement && before.current.isConnected ? before.current.focus() : undefined);
  }, []);
  const end = (yes: boolean) => {
    if (asked.value === question) asked.value = undefined;
    question.answer(yes);
  };
  useEffect(() => { // a question ends with its screen
    const leave = () => end(false);
    addEventListener("hashchange", leave);
    return () => removeEventListener("hashchange", leave);
  }, []);
  const submit = async (e: SubmitEvent) => {
    e.preventDefault();
    if (question.kind === "sure") return end(true);
    busy.value = true;
    wrong.value = "";
    try {
      await call("POST", "/web/v1/step-up", { password: typed.value });
      end(true);
    } catch (e) {
      wrong.value = e instanceof Refusal && e.code === "wrong_password" ? t("wrongPassword") : refusal(e);
      busy.value = false;
    }
  };
  const ready = question.type === "" || typed.value.trim() === question.type.trim();
  return (
    <dialog class="ask" ref={dialog} aria-labelledby={title} onCancel={() => end(false)}>
      <form class="form" onSubmit={submit}>
        <h2 id={title}>{question.title}</h2>
        <p>{question.text}</p>
        {(question.kind === "password" || question.type !== "") && (
          <>
            {question.kind === "password" && <Holder email={overview.value?.user.email} />}
            <label for={field}>{question.kind === "password" ? t("password") : <>{t("typeThis")} <strong>{question.type}</strong></>}</label>
            <input
              id={field}
              type={question.kind === "password" ? "password" : "text"}
              autocomplete={question.kind === "password" ? "current-password" : "off"}
              required
              value={typed.value}
              onInput={(e) => (typed.value = e.currentTarget.value)}
            />
          </>
        )}
        <p class="wrong" role="alert">{wrong}</p>
        <div class="row">
          <button type="button" onClick={() => end(false)}>{t("cancel")}</button>
          <button class="main" disabled={busy.value || !ready}>{question.yes}</button>
        </div>
      </form>
    </dialog>
  );
}
