import { translatorOf } from '../catalogues.ts';
import type { WidePage } from '../design/shell.tsx';
import { LiveList, liveScriptOf } from '../live/live-list.tsx';
import type { BuiltScript } from '../renderer.ts';
import type { InboxView } from '../views/inbox.ts';
import { InboxList } from './inbox-list.tsx';

const t = translatorOf('inbox', 'en');

export function inboxPage(view: InboxView, script: BuiltScript): WidePage {
  return {
    title: t('title'),
    body: (
      <>
        <h1>{t('title')}</h1>
        <p class="quiet">{t('intro')}</p>
        <LiveList>
          <InboxList list={view} />
        </LiveList>
      </>
    ),
    script: liveScriptOf(view, script),
  };
}
