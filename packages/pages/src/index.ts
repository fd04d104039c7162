import { builtPages, type PageFile } from './built-pages.ts';
import type { RenderedPage } from './renderer.ts';
import type { InboxList } from './views/inbox.ts';
import type { PageView } from './views/index.ts';

export { builtPages, type PageFile } from './built-pages.ts';
export type { RenderedPage } from './renderer.ts';
export * from './views/checkout.ts';
export type * from './views/claim.ts';
export type * from './views/errors.ts';
export type * from './views/inbox.ts';
export type { PageView } from './views/index.ts';
export * from './views/languages.ts';
export type * from './views/link.ts';
export type * from './views/payer-page.ts';
export type * from './views/subscription.ts';
export * from './written.ts';

/** The document of a view. The first page of a version waits for its build. */
export async function renderPage(view: PageView): Promise<RenderedPage> {
  const { render, scripts } = await builtPages();
  return render(view, scripts);
}

/** HTML of the inbox's list, which the inbox's script puts into its page. */
export async function renderInboxList(list: InboxList): Promise<string> {
  return (await builtPages()).renderInboxList(list);
}

/** The inbox's script; its content is of this version of the pages. */
export async function inboxScript(): Promise<PageFile> {
  const { scripts, files } = await builtPages();
  const file = files.get(scripts.inbox.name);
  if (file === undefined) throw new Error(`the build has no file ${scripts.inbox.name}`);
  return file;
}
