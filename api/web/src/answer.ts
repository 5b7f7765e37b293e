// Answers of the appliance that a screen shows.

import { useEffect, useRef, useState } from "preact/hooks";
import { call, Refusal } from "./api";

export interface Answer<T> {
  value?: T; // the newest; it stays while another is asked for, and when that fails
  refusal?: Refusal; // why the last request failed
  again: () => Promise<void>;
}

/**
 * Asks for path when it changes, when the page is looked at again, and, if every is given, each so
 * many seconds. A null path asks for nothing. An answer that was overtaken is dropped.
 */
export function useAnswer<T>(path: string | null, every = 0): Answer<T> {
  const [kept, keep] = useState<{ path: string | null; value?: T; refusal?: Refusal }>({ path: null });
  const asked = useRef(0);
  const again = async () => {
    if (path === null) return;
    const mine = ++asked.current;
    try {
      const value = await call<T>("GET", path);
      if (mine === asked.current) keep({ path, value });
    } catch (e) {
      if (mine === asked.current && e instanceof Refusal && e.status !== 401) keep((old) => ({ path, value: old.path === path ? old.value : undefined, refusal: e }));
    }
  };
  useEffect(() => {
    void again();
    const seen = () => document.visibilityState === "visible" && void again();
    const timer = every ? setInterval(seen, every * 1000) : 0;
    document.addEventListener("visibilitychange", seen);
    return () => {
      asked.current++;
      clearInterval(timer);
      document.removeEventListener("visibilitychange", seen);
    };
  }, [path, every]);
  return { value: kept.path === path ? kept.value : undefined, refusal: kept.path === path ? kept.refusal : undefined, again };
}
