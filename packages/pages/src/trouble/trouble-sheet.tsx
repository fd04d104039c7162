import { translatorOf } from '../catalogues.ts';
import { Exact, Sign } from '../design/parts.tsx';
import type { Sheet } from '../design/shell.tsx';
import type { TroubleView } from '../views/trouble.ts';

export function troubleSheet({ language, kind, detail, requestId }: TroubleView): Sheet {
  const t = translatorOf('trouble', language);
  const title = t(`${kind}_title`);
  return {
    language,
    title,
    body: (
      <section class="card center">
        <Sign tone="warn" icon="exclamation" />
        <h1>{title}</h1>
        <p>{t(`${kind}_text`)}</p>
        {detail === null ? null : (
          <p lang="en" dir="ltr">
            {detail}
          </p>
        )}
        <p class="quiet small">
          {t('request')} <Exact text={requestId} />
        </p>
      </section>
    ),
  };
}
