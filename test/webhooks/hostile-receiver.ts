import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

/** Ports of the receiver, by what is wrong before a request can be read. */
export type Door =
  | 'good'
  | 'tls-1.2'
  | 'self-signed'
  | 'other-authority'
  | 'expired'
  | 'not-yet-valid'
  | 'wrong-name'
  | 'old-tls'
  | 'plain-http'
  | 'cut-in-handshake'
  | 'reset-after-hello'
  | 'reset-at-accept'
  | 'close-at-accept'
  | 'silent';

export interface ReceivedRequest {
  /** Counts from 1: two requests with the same came over one connection. */
  connection: number;
  method: string;
  path: string;
  /** By lower-case name. */
  headers: Readonly<Record<string, string>>;
  /** As they came. */
  headerLines: readonly string[];
  body: string;
  /** Real time, Unix milliseconds. */
  atMs: number;
}

export interface Report {
  requests: readonly ReceivedRequest[];
  /** TCP connections that were accepted, by door. */
  connections: Readonly<Partial<Record<Door, number>>>;
  /** All bytes that came, for doors that speak no TLS. */
  raw: Readonly<Partial<Record<Door, string>>>;
  /** Connections that are open now, and at most were. */
  open: number;
  mostOpen: number;
}

export interface Question {
  id: number;
  ask: 'report' | 'forget';
}

export interface HostileReceiver {
  /** The authority that signed its good certificate (PEM), and a file that holds it. */
  ca: string;
  caFile: string;
  ports: Readonly<Record<Door, number>>;
  /** `behaviour` is a path of hostile-behaviours.ts such as `status/204`; `host` is one of this machine (localhost). */
  url(behaviour: string, door?: Door, host?: string): string;
  report(): Promise<Report>;
  /** Everything received since the start or the last `forget`. */
  forget(): Promise<Report>;
  stop(): Promise<void>;
}

interface Hello {
  ports: Record<Door, number>;
  ca: string;
}

/** Requests to the child and their answers, matched by number. */
class Questions {
  readonly #child: ChildProcess;
  readonly #waiting = new Map<number, (report: Report) => void>();
  #last = 0;

  constructor(child: ChildProcess) {
    this.#child = child;
    child.on('message', ({ id, report }: { id: number; report: Report }) => {
      this.#waiting.get(id)?.(report);
      this.#waiting.delete(id);
    });
  }

  ask(ask: Question['ask']): Promise<Report> {
    this.#last += 1;
    const id = this.#last;
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, resolve);
      this.#child.send({ id, ask }, (error) => error !== null && reject(error));
    });
  }
}

/** Starts the receiver with certificates made now; it ends with `stop` or with this process. */
export async function startHostileReceiver(): Promise<HostileReceiver> {
  const child = fork(path.join(import.meta.dirname, 'hostile-receiver-process.ts'), {
    // Without the test runner's flags, which a plain Node rejects.
    execArgv: [],
    env: { PATH: process.env.PATH },
  });
  const [{ ports, ca }] = (await once(child, 'message')) as [Hello];
  const questions = new Questions(child);
  const folder = mkdtempSync(path.join(tmpdir(), 'florin-receiver-'));
  const caFile = path.join(folder, 'ca.pem');
  writeFileSync(caFile, ca);
  return {
    ca,
    caFile,
    ports,
    url: (behaviour, door = 'good', host = 'localhost') => `https://${host}:${ports[door]}/${behaviour}`,
    report: () => questions.ask('report'),
    forget: () => questions.ask('forget'),
    stop: async () => {
      const ended = once(child, 'exit');
      child.disconnect();
      await ended;
      rmSync(folder, { recursive: true });
    },
  };
}
