import type { Texts } from './texts.ts';
import type { FrontEvent } from './views/front.ts';
import type { InboxList } from './views/inbox.ts';
import type { PageView } from './views/index.ts';
import type { PageLanguage } from './views/languages.ts';
import type { MailView, RenderedMail } from './views/mail.ts';
import type { MailsList } from './views/mails.ts';

/** A whole document, with what its content security policy has to allow. */
export interface RenderedPage {
  html: string;
  /** Directives beside those that all pages have. */
  policy: Readonly<Record<string, string>>;
}

/** A script that the build made: its name, and the hash by which browsers check it. */
export interface BuiltScript {
  name: string;
  integrity: string;
}

/** Scripts of pages, by their entry of the build. */
export type Scripts = Readonly<Record<'checkout' | 'subscribe' | 'live', BuiltScript>>;

/** The list of a page alone, by the page. */
export type LiveListView =
  | ({ page: 'inbox' } & InboxList)
  | ({ page: 'mails' } & MailsList)
  | { page: 'front'; events: readonly FrontEvent[] };

/** What the build of `render.tsx` exports. */
export interface Renderer {
  render: (view: PageView, scripts: Scripts) => RenderedPage;
  renderList: (list: LiveListView) => string;
  renderMail: (view: MailView, publicUrl: string) => RenderedMail;
  walletTexts: (language: PageLanguage) => Texts<'wallet'>;
}
