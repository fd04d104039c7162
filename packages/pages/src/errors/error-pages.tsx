import { textsOf, translatorOf } from '../catalogues.ts';
import type { WidePage } from '../design/shell.tsx';
import { withElements } from '../texts.ts';
import type { ErrorListView, ErrorView } from '../views/errors.ts';

const t = translatorOf('errors', 'en');

const NAV = (
  <nav aria-label={t('documentation')}>
    <a href="/docs">{t('reference')}</a> · <a href="/docs/errors">{t('title')}</a>
  </nav>
);

export function errorPage({ code, status, title, cause, advice }: ErrorView): WidePage {
  return {
    title,
    nav: NAV,
    body: (
      <>
        <h1>{title}</h1>
        <p class="quiet">
          <code>{code}</code>, {t('status', { status })}
        </p>
        <h2>{t('cause')}</h2>
        <p>{cause}</p>
        <h2>{t('advice')}</h2>
        <p>{advice}</p>
      </>
    ),
  };
}

const LIST_TEXT = withElements(textsOf('errors', 'en').list_text, {
  payout: <code>errorCode</code>,
  other: <code>error.code</code>,
});

export function errorListPage({ errors }: ErrorListView): WidePage {
  return {
    title: t('title'),
    nav: NAV,
    body: (
      <>
        <h1>{t('title')}</h1>
        <p>{LIST_TEXT}</p>
        <table>
          <thead>
            <tr>
              <th scope="col">{t('http')}</th>
              <th scope="col">{t('code')}</th>
              <th scope="col">{t('meaning')}</th>
            </tr>
          </thead>
          <tbody>
            {errors.map(({ code, status, title }) => (
              <tr key={code}>
                <td class="number">{status}</td>
                <td>
                  <a href={`/docs/errors/${code}`}>
                    <code>{code}</code>
                  </a>
                </td>
                <td>{title}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </>
    ),
  };
}
