import { useSignal } from "@preact/signals";
import { refusal } from "../text";

/** Does things one at a time, and keeps why one went wrong. */
export function useAct(again: () => Promise<unknown>) {
  const busy = useSignal(false);
  const wrong = useSignal("");
  const act = async (what: () => Promise<unknown>) => {
    busy.value = true;
    wrong.value = "";
    try {
      await what();
      await again();
    } catch (e) {
      wrong.value = refusal(e);
    }
    busy.value = false;
  };
  return { busy, wrong, act };
}
