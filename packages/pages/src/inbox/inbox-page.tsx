import { translatorOf } from '../catalogues.ts';
import type { WidePage } from '../design/shell.tsx';
import { livePage } from '../live/live-list.tsx';
import type { BuiltScript } from '../renderer.ts';
import type { InboxView } from '../views/inbox.ts';
import { InboxList } from './inbox-list.tsx';

const t = translatorOf('inbox', 'en');

export function inboxPage(view: InboxView, script: BuiltScript): WidePage {
  const list = <InboxList list={view} />;
  return livePage({ title: t('title'), intro: t('intro'), list }, view, script);
}
