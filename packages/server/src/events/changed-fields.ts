type Fields = Readonly<Record<string, unknown>>;

const differs = (a: unknown, b: unknown) => JSON.stringify(a) !== JSON.stringify(b);

/**
 * The old value of each top-level field that a change altered (null if it was absent), and nothing else. Null: the
 * change made the resource. Undefined: nothing that a reader sees has changed, so there is no news.
 */
export function changedFields(before: Fields | null, after: Fields): Fields | null | undefined {
  if (before === null) return null;
  const names = new Set([...Object.keys(before), ...Object.keys(after)]);
  const changed = [...names].filter((name) => differs(before[name], after[name]));
  if (changed.length === 0) return undefined;
  return Object.fromEntries(changed.map((name) => [name, before[name] ?? null]));
}
