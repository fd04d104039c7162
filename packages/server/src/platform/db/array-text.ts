const NEEDS_ESCAPE = /["\\]/;

/**
 * PostgreSQL's text form of an array, for the columns of a bulk insert. The driver can write arrays as well, at several
 * times the cost an element.
 */
export function arrayText(values: readonly (string | number | bigint | null)[]): string {
  let text = '';
  for (const value of values) {
    if (value === null) text += ',NULL';
    else if (typeof value !== 'string') text += `,${value}`;
    else text += NEEDS_ESCAPE.test(value) ? `,"${value.replaceAll(/["\\]/g, '\\$&')}"` : `,"${value}"`;
  }
  return `{${text.slice(1)}}`;
}
