type Fields = Readonly<Record<string, unknown>>;

const differs = (a: unknown, b: unknown) => JSON.stringify(a) !== JSON.stringify(b);

/**
 * The old value of each top-level field that changed, null where the field was absent.
 *
 * @returns null for a new resource; undefined where no visible field changed, so that no event is recorded
 */
export function changedFields(before: Fields | null, after: Fields): Fields | null | undefined {
  if (before === null) return null;
  const names = new Set([...Object.keys(before), ...Object.keys(after)]);
  const changed = [...names].filter((name) => differs(before[name], after[name]));
  if (changed.length === 0) return undefined;
  return Object.fromEntries(changed.map((name) => [name, before[name] ?? null]));
}
