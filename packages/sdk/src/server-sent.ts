/** One block of server-sent events. Its fields are absent where the block does not name them. */
export interface Block {
  id?: string;
  event?: string;
  data?: string;
  /** Milliseconds. */
  retry?: number;
}

const LINE_END = /\r\n|\n|\r/;

/** The blocks of a stream, whole ones only, by the rules of the HTML standard; comments come as blocks of nothing. */
export async function* readBlocks(pieces: AsyncIterable<Uint8Array>): AsyncGenerator<Block> {
  const decoder = new TextDecoder();
  let lines: string[] = [];
  let rest = '';
  for await (const piece of pieces) {
    rest += decoder.decode(piece, { stream: true });
    // A carriage return at the end may be the first half of a line end.
    const held = rest.endsWith('\r') ? '\r' : '';
    const whole = rest.slice(0, rest.length - held.length).split(LINE_END);
    rest = (whole.pop() ?? '') + held;
    for (const line of whole) {
      if (line !== '') lines.push(line);
      else if (lines.length > 0) {
        yield blockOf(lines);
        lines = [];
      }
    }
  }
}

function blockOf(lines: readonly string[]): Block {
  const block: Block = {};
  for (const line of lines) {
    const [, name = '', value = ''] = /^([^:]*):? ?(.*)$/s.exec(line) ?? [];
    if (name === 'data') block.data = block.data === undefined ? value : `${block.data}\n${value}`;
    else if (name === 'event') block.event = value;
    else if (name === 'id' && !value.includes('\0')) block.id = value;
    else if (name === 'retry' && /^[0-9]+$/.test(value)) block.retry = Number(value);
  }
  return block;
}
