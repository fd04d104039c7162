import { translatorOf } from '../catalogues.ts';
import type { WidePage } from '../design/shell.tsx';
import { Block, Code, livePage, Time } from '../live/live-list.tsx';
import type { BuiltScript } from '../renderer.ts';
import type { CaughtMail, MailsList as List, MailsView } from '../views/mails.ts';

const t = translatorOf('mails', 'en');

export function mailsPage(view: MailsView, script: BuiltScript): WidePage {
  const list = <MailsList list={view} />;
  return livePage({ title: t('title'), intro: t('intro'), list }, view, script);
}

function Mail({ mail }: { mail: CaughtMail }) {
  const { id, kind, to, language, about, createdAt, subject, text, htmlPath } = mail;
  return (
    <>
      <h2 id={`${id}-title`} lang={language}>
        <bdi>{subject}</bdi>
      </h2>
      <p class="quiet">
        <Time iso={createdAt} /> · {kind} · {t('to', { to })} · {about} · {id}
      </p>
      <p>
        <a href={htmlPath}>{t('as_html')}</a>
      </p>
      <details id={`${id}-body`}>
        <summary id={`${id}-fold`}>{t('as_text')}</summary>
        <Code label={t('text_of', { id })} text={text} />
      </details>
    </>
  );
}

export function MailsList({ list: { mails } }: { list: List }) {
  if (mails.length === 0) {
    return (
      <Block id="nothing">
        <div>
          <h2 id="nothing-title">{t('none_title')}</h2>
          <p>{t('none_text')}</p>
        </div>
      </Block>
    );
  }
  return (
    <>
      {mails.map((mail) => (
        <Block key={mail.id} id={mail.id} kind="event">
          <Mail mail={mail} />
        </Block>
      ))}
    </>
  );
}
