import { translatorOf } from './catalogues.ts';
import { Contact, Sign } from './design/parts.tsx';
import type { Sheet } from './design/shell.tsx';
import { NO_BRAND, type NoticeView } from './views/payer-page.ts';

/** Without a head: a message stands at any depth of addresses, from which no logo is found. */
export function noticeSheet({ language, code, store }: NoticeView): Sheet {
  const t = translatorOf('notice', language);
  const name = store?.storeName ?? '';
  const title = t(`${code}_title`, { store: name });
  return {
    language,
    title,
    ...(store === null ? {} : { store }),
    body: (
      <>
        {store === null ? null : (
          <p class="store">
            <bdi>{name}</bdi>
          </p>
        )}
        <section class="card center">
          <Sign tone="warn" icon="exclamation" />
          <h1>{title}</h1>
          <p>{t(`${code}_text`, { store: name })}</p>
          <Contact
            brand={store?.brand ?? NO_BRAND}
            label={translatorOf('shell', language)('contact', { store: name })}
          />
        </section>
      </>
    ),
  };
}
