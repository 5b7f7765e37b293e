// What the bundle has in place of the files of words: .ci/web/words.go writes it.

/** The numbers of the words whose names are needed at run time. */
export const numbers: Record<string, number> = {};

/** The texts, which stand in lines, by their numbers from first on; names has a name, or nothing, for each. */
export function unpack(first: number, texts: string, names = ""): Record<number, string> {
  names.split(" ").forEach((name, i) => name && (numbers[name] = first + i));
  return Object.fromEntries(texts.split("\n").map((text, i) => [first + i, text]));
}
