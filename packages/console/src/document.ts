import { type BuiltConsole, START } from './built-console.ts';

/**
 * The modules that may show an address, the likeliest first: pages have the names of their folders. A wrong guess costs a
 * small file, a missing one some time.
 *
 * @param path of the address, such as `/console/mer_1/store_1/payments/pay_1`
 */
export function modulesOf(path: string): string[] {
  const [, , first = '', second = '', folder = '', id] = path.split('/');
  if (first === 'operator') return [`operator/${second}`];
  if (id === undefined) return [folder, `store/${folder}`, `sandbox/${folder}`];
  const one = folder.replace(/s$/, '');
  return [`${one}-${id}`, one, folder];
}

/**
 * The document of an address.
 *
 * @param start what the application begins with, so that it need not ask first; undefined: it asks
 */
export function documentOf(
  { html, pages }: Pick<BuiltConsole, 'html' | 'pages'>,
  { nonce, path, start }: { nonce: string; path: string; start: unknown },
): string {
  const name = modulesOf(path).find((module) => pages.has(module)) ?? '';
  const preloads = (pages.get(name) ?? []).map(
    (file) => `<link rel="modulepreload" crossorigin href="${file}">`,
  );
  // Of JSON in a document only `<` could end its element or begin a comment.
  const json = start === undefined ? '' : JSON.stringify(start).replaceAll('<', '\\u003c');
  return html
    .replace('NONCE', () => nonce)
    .replace('</head>', () => `${preloads.join('')}</head>`)
    .replace(START, () => START.replace('><', () => `>${json}<`));
}
