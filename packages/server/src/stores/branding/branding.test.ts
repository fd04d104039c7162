import fc from 'fast-check';
import { decode, encode } from 'fast-png';
import { expect, test } from 'vitest';
import { Fail } from '../../platform/fail.ts';
import { readAccent, readHttpsLink, readSupport } from './read-links.ts';
import { readLogo } from './read-logo.ts';

/** The one line that a refusal says. */
function refusalOf(work: () => unknown): string {
  try {
    work();
  } catch (error) {
    expect(error).toBeInstanceOf(Fail);
    const { message } = error as Fail;
    expect(message).not.toContain('\n');
    return message;
  }
  throw new Error('nothing was refused');
}

const svg = (inner: string, root = 'viewBox="0 0 10 10"') =>
  Buffer.from(`<svg xmlns="http://www.w3.org/2000/svg" ${root}>${inner}</svg>`);
const drawn = (file: Buffer) => readLogo(file).body.toString('utf8');
const SHAPE = '<path d="M0 0h10v10z" fill="#f00"/>';

test('an SVG of shapes is drawn again without anything else', () => {
  expect(drawn(svg(SHAPE))).toBe(
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 10 10"><path d="M0 0h10v10z" fill="#f00"></path></svg>',
  );
  const notes =
    '<!-- made by an editor --><title>Us</title><metadata><x:y xmlns:x="http://x.example/">secret</x:y></metadata>' +
    '<ed:view xmlns:ed="http://editor.example/" ed:zoom="1"/>';
  const styled = '<g style="fill:#0a0;font-family:x" class="a" data-x="1"><rect width="5" height="5"/></g>';
  expect(drawn(Buffer.from(`<?xml version="1.0"?>${svg(notes + styled).toString()}`))).toBe(
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 10 10"><g fill="#0a0"><rect width="5" height="5"></rect></g></svg>',
  );
  expect(drawn(svg(SHAPE, 'width="20" height="10px"'))).toContain('viewBox="0 0 20 10"');
  const gradient =
    '<defs><linearGradient id="a"><stop offset="0" stop-color="#fff"/></linearGradient></defs>';
  expect(drawn(svg(`${gradient}<rect width="1" height="1" fill="url('#a')"/>`))).toContain('fill="url(#a)"');
});

test.each([
  ['a script', '<script>alert(1)</script>', '<script>'],
  ['a handler', '<path d="M0 0" onclick="alert(1)"/>', 'onclick'],
  ['a handler of the root', SHAPE, 'onload', 'viewBox="0 0 1 1" onload="alert(1)"'],
  [
    'a page inside',
    '<foreignObject><p xmlns="http://www.w3.org/1999/xhtml">x</p></foreignObject>',
    '<foreignObject>',
  ],
  ['a picture from elsewhere', '<image href="https://x.example/a.png"/>', '<image>'],
  ['a link', '<a href="javascript:alert(1)"><path d="M0 0"/></a>', '<a>'],
  ['a style sheet', '<style>@import "https://x.example/"</style>', '<style>'],
  ['a use of others', '<use href="#a"/>', '<use>'],
  ['text', '<text>x</text>', '<text>'],
  ['an animation', '<set attributeName="href" to="javascript:alert(1)"/>', '<set>'],
  [
    'a reference to another file',
    '<rect width="1" height="1" fill="url(https://x.example/#a)"/>',
    'another file',
  ],
  ['a hidden reference', '<rect style="fill: url( //x.example )"/>', 'another file'],
  ['nothing', '', 'no shape'],
  ['no size', SHAPE, 'neither a viewBox', ''],
])('an SVG with %s is refused', (_, inner, named, root = 'viewBox="0 0 10 10"') => {
  expect(refusalOf(() => readLogo(svg(inner, root)))).toContain(named);
});

test('what is no picture is refused', () => {
  const refused = (text: string) => refusalOf(() => readLogo(Buffer.from(text)));
  expect(refused('GIF89a')).toContain('neither a PNG nor an SVG');
  expect(refused('')).toContain('neither a PNG nor an SVG');
  expect(refused('<html><body/></html>')).toContain('root');
  expect(refused('<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 1 1"><g>')).toContain('well-formed');
  expect(
    refused(
      `<!DOCTYPE svg [<!ENTITY a "b">]><svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 1 1"><g>&a;</g></svg>`,
    ),
  ).toContain('entities');
  expect(
    refused(`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 1 1">${'<g/>'.repeat(2_001)}</svg>`),
  ).toMatch(/too many/);
  expect(refusalOf(() => readLogo(Buffer.alloc(100_001, 60)))).toContain('at most 100 kB');
});

test('no text makes more than shapes of an SVG', () => {
  const piece = fc.constantFrom(
    '<g',
    '<path',
    '<script',
    '/>',
    '>',
    '</g>',
    ' d="',
    ' fill="',
    ' style="',
    ' href="',
    ' onload="',
    '"',
    'url(',
    '#a',
    ')',
    'javascript:',
    '&lt;',
    '&#60;',
    '<![CDATA[',
    ']]>',
    '<!--',
    '-->',
    '<?x',
    '?>',
    ' xmlns="u"',
  );
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 20 }), (pieces) => {
      let made: string;
      try {
        made = drawn(svg(SHAPE + pieces.join('')));
      } catch (error) {
        expect(error).toBeInstanceOf(Fail);
        return;
      }
      expect(made).toMatch(/^(<\/?(svg|g|path)( [\w:-]+="[\w\s#.,%()+:/-]*")*>)+$/);
      expect(made).not.toMatch(/script|javascript| on\w+=/i);
    }),
  );
});

const PIXELS = {
  width: 4,
  height: 2,
  data: Uint8Array.from({ length: 32 }, (_, i) => (i % 4 === 3 ? 255 : i * 7)),
};

test('a PNG is drawn again: its pixels are kept, and nothing that stands beside them', () => {
  const file = Buffer.from(encode({ ...PIXELS, channels: 4, depth: 8, text: { Comment: 'secret' } }));
  const { body, type, logoId } = readLogo(file);
  expect(type).toBe('image/png');
  expect(logoId).toMatch(/^[0-9a-f]{32}$/);
  expect(body.includes('secret')).toBe(false);
  expect([...decode(body).data]).toEqual([...PIXELS.data]);
});

test('a PNG of any kind of pixels is read', () => {
  for (const [channels, depth] of [
    [1, 8],
    [2, 8],
    [3, 8],
    [4, 16],
    [1, 16],
  ] as const) {
    const length = 2 * 2 * channels;
    const data = depth === 16 ? new Uint16Array(length).fill(0xffff) : new Uint8Array(length).fill(255);
    const { body } = readLogo(Buffer.from(encode({ width: 2, height: 2, data, channels, depth })));
    expect([...decode(body).data], `${channels} × ${depth}`).toEqual(Array(16).fill(255));
  }
});

test('a large PNG is made as small as pages need it; one that would fill the memory is refused before it is decoded', () => {
  const [width, height] = [1_000, 500];
  const data = new Uint8Array(width * height * 4).fill(200);
  const { body } = readLogo(Buffer.from(encode({ width, height, data, channels: 4, depth: 8 })));
  const { width: w, height: h, data: made } = decode(body);
  expect([w, h]).toEqual([240, 120]);
  expect(made.every((value) => value === 200)).toBe(true);
  const bomb = Buffer.from(encode({ ...PIXELS, channels: 4, depth: 8 }));
  bomb.writeUInt32BE(60_000, 16);
  bomb.writeUInt32BE(60_000, 20);
  expect(refusalOf(() => readLogo(bomb))).toContain('2048');
});

test('a broken PNG is refused', () => {
  const whole = Buffer.from(encode({ ...PIXELS, channels: 4, depth: 8 }));
  fc.assert(
    fc.property(fc.nat(whole.length - 9), fc.integer({ min: 1, max: 255 }), (at, change) => {
      const broken = Buffer.from(whole);
      broken[8 + at] = (broken[8 + at] ?? 0) ^ change;
      try {
        expect(readLogo(broken).type).toBe('image/png');
      } catch (error) {
        expect(error).toBeInstanceOf(Fail);
      }
    }),
  );
  expect(refusalOf(() => readLogo(whole.subarray(0, 40)))).toContain('no PNG');
});

test('links and addresses are https or mailto, and nothing else', () => {
  expect(readSupport('help@shop.example')).toBe('mailto:help@shop.example');
  expect(readSupport('mailto:help@shop.example')).toBe('mailto:help@shop.example');
  expect(readSupport('https://shop.example/help')).toBe('https://shop.example/help');
  for (const text of [
    'http://shop.example',
    'javascript:alert(1)',
    'data:text/html,x',
    'shop.example',
    'help@',
    '@shop',
    'a b@c.de',
    'help@shop.example?bcc=a@b.example',
    'help@shop.example\r\nBcc: a@b.example',
    'https://',
    'https://u:p@x.example',
    `https://shop.example/${'a'.repeat(500)}`,
    '',
  ])
    expect(refusalOf(() => readSupport(text))).toContain('support');
  expect(readHttpsLink('https://shop.example/terms', 'terms')).toBe('https://shop.example/terms');
  expect(refusalOf(() => readHttpsLink('http://shop.example/', 'terms'))).toContain('terms');
});

test('a colour is six hexadecimal digits', () => {
  expect(readAccent('#0A58CA')).toBe('#0a58ca');
  expect(readAccent('f0a')).toBe('#ff00aa');
  for (const text of ['red', '#12', '#1234567', 'rgb(0,0,0)', '#0a58ca;}', ''])
    expect(refusalOf(() => readAccent(text))).toContain('accent');
});
