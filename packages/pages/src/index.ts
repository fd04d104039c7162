import { builtPages, type PageFile } from './built-pages.ts';
import type { LiveListView, RenderedPage } from './renderer.ts';
import type { Texts } from './texts.ts';
import type { PageView } from './views/index.ts';
import type { PageLanguage } from './views/languages.ts';
import type { MailView, RenderedMail } from './views/mail.ts';

export { builtPages, type PageFile } from './built-pages.ts';
export type { RenderedPage } from './renderer.ts';
export * from './views/checkout.ts';
export type * from './views/claim.ts';
export type * from './views/front.ts';
export type * from './views/inbox.ts';
export type { PageView } from './views/index.ts';
export * from './views/languages.ts';
export type * from './views/link.ts';
export type { MailView, RenderedMail } from './views/mail.ts';
export type * from './views/mails.ts';
export * from './views/payer-page.ts';
export type * from './views/subscription.ts';
export type * from './views/trouble.ts';
export type * from './views/wallet.ts';
export * from './written.ts';

/** The document of a view. The first page of a version waits for its build. */
export async function renderPage(view: PageView): Promise<RenderedPage> {
  const { render, scripts } = await builtPages();
  return render(view, scripts);
}

/** What the page says of a wallet in the browser. */
export async function walletTexts(language: PageLanguage): Promise<Texts<'wallet'>> {
  return (await builtPages()).walletTexts(language);
}

/** A mail, with its links below the service's address. */
export async function renderMail(view: MailView, publicUrl: string): Promise<RenderedMail> {
  return (await builtPages()).renderMail(view, publicUrl);
}

/** HTML of a list, which the script of its page puts into the page. */
export async function renderList(list: LiveListView): Promise<string> {
  return (await builtPages()).renderList(list);
}

/** The script of pages with a live list; its content is of this version of the pages. */
export async function liveScript(): Promise<PageFile> {
  const { scripts, files } = await builtPages();
  const file = files.get(scripts.live.name);
  if (file === undefined) throw new Error(`the build has no file ${scripts.live.name}`);
  return file;
}
