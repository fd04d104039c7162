/** What pg itself writes the values of a statement with; its types leave the file out. */
declare module 'pg/lib/utils.js' {
  const utils: { prepareValue: (value: unknown) => unknown };
  export default utils;
}
