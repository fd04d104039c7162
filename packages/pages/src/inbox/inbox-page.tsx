import { textsOf, translatorOf } from '../catalogues.ts';
import type { WidePage } from '../design/shell.tsx';
import type { BuiltScript } from '../renderer.ts';
import type { InboxView } from '../views/inbox.ts';
import { InboxList } from './inbox-list.tsx';

const t = translatorOf('inbox', 'en');

export function inboxPage(view: InboxView, { integrity }: BuiltScript): WidePage {
  return {
    title: t('title'),
    body: (
      <>
        <h1>{t('title')}</h1>
        <p class="quiet">{t('intro')}</p>
        <p id="status" role="status">
          {t('reload')}
        </p>
        <div id="inbox">
          <InboxList list={view} />
        </div>
      </>
    ),
    script: { src: view.scriptPath, integrity, data: textsOf('inbox', 'en') },
  };
}
