// Buttons and forms that say what came of them.

import { useSignal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { Refusal } from "../api";
import { refusal, t } from "../text";

/** A button that does something and says how that went. */
export function Doing({ text, run, bad = false, main = false }: { text: ComponentChildren; run: () => Promise<string | void>; bad?: boolean; main?: boolean }) {
  const busy = useSignal(false);
  const wrong = useSignal("");
  const said = useSignal("");
  const click = async () => {
    busy.value = true;
    wrong.value = said.value = "";
    try {
      said.value = (await run()) ?? "";
    } catch (e) {
      wrong.value = refusal(e);
    }
    busy.value = false;
  };
  return (
    <div>
      <button class={bad ? "bad" : main ? "main" : ""} disabled={busy} onClick={click}>{text}</button>
      <span role="status">{said}</span>
      <p class="wrong" role="alert">{wrong}</p>
    </div>
  );
}

/** A form that sends its fields and says what came of it. */
export function Fields({ yes, send, main = false, children }: { yes: string; send: (form: FormData) => Promise<string>; main?: boolean; children: ComponentChildren }) {
  const busy = useSignal(false);
  const wrong = useSignal("");
  const said = useSignal("");
  const submit = async (e: SubmitEvent) => {
    e.preventDefault();
    const form = e.currentTarget as HTMLFormElement;
    busy.value = true;
    wrong.value = said.value = "";
    try {
      said.value = await send(new FormData(form));
    } catch (e) {
      wrong.value = e instanceof Refusal && e.code === "wrong_password" ? t("wrongPassword") : refusal(e);
    }
    busy.value = false;
  };
  return (
    <form class="form" onSubmit={submit}>
      {children}
      <p class="wrong" role="alert">{wrong}</p>
      <p role="status" class="said">{said}</p>
      <div><button class={main ? "main" : ""} disabled={busy}>{yes}</button></div>
    </form>
  );
}
