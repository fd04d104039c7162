import { translatorOf } from './catalogues.ts';
import { Sign, StoreHead } from './design/parts.tsx';
import type { Sheet } from './design/shell.tsx';
import type { NoticeView } from './views/payer-page.ts';

export function noticeSheet({ language, code, storeName }: NoticeView): Sheet {
  const t = translatorOf('notice', language);
  const store = storeName ?? '';
  const title = t(`${code}_title`, { store });
  return {
    language,
    title,
    body: (
      <>
        {storeName === null ? null : <StoreHead storeName={storeName} test={undefined} />}
        <section class="card center">
          <Sign tone="warn" icon="exclamation" />
          <h1>{title}</h1>
          <p>{t(`${code}_text`, { store })}</p>
        </section>
      </>
    ),
  };
}
