// A client of stardust serve, for browsers and Node.js 20 or later. Its types are
// those of the server's OpenAPI document.
import type { components, paths } from './schema.d.ts';

type Schemas = components['schemas'];
export type Digest = Schemas['Digest'];
export type Node = Schemas['Record'];
export type TimedNode = Schemas['TimedRecord'];
export type Version = Schemas['Version'];
export type Change = Schemas['Change'];
export type Commit = Schemas['Commit'];
export type Found = Schemas['Found'];
export type Info = Schemas['Info'];
export type Outline = Schemas['Outline'];
export type GrowthPoint = Schemas['GrowthPoint'];
export type Unfinished = Schemas['Unfinished'];

// The operations of the objects spec, with their members and results.
type ObjectsPath = Extract<keyof paths, `/v1/objects/${string}`>;
export type Operation = ObjectsPath extends `/v1/objects/${infer Name}` ? Name : never;
type Post<Name extends Operation> = paths[`/v1/objects/${Name}`]['post'];
type JSONOf<T> = T extends { content: { 'application/json': infer Body } } ? Body : never;
export type OperationRequest<Name extends Operation> = JSONOf<NonNullable<Post<Name>['requestBody']>>;
export type OperationResult<Name extends Operation> = Post<Name>['responses'] extends { 200: infer Answer } ? JSONOf<Answer> : void;

/** What a server says is wrong. */
export class Problem extends Error {
  /** The HTTP status; 0 when no answer came. */
  readonly http: number;
  /** The status of the objects spec, such as not_found. */
  readonly status: string;
  /** What the status means here, such as name_taken. */
  readonly code: string;

  constructor(http: number, document?: Partial<Schemas['Problem']> | null) {
    super(document?.message ?? `the server answers ${http}`);
    this.name = 'Problem';
    this.http = http;
    this.status = document?.status ?? '';
    this.code = document?.code ?? '';
  }
}

export interface Options {
  /** Sent with every request. */
  token?: string;
  /** Sent with every request, when there is no token. */
  user?: string;
  password?: string;
  /** Does the requests; globalThis.fetch when it is left out. */
  fetch?: typeof fetch;
}

export interface ReadOptions {
  /** The revision to read at; the present when it is left out. */
  at?: number;
  /** The first byte, and how many. */
  offset?: number;
  length?: number;
  signal?: AbortSignal;
}

export interface WriteOptions {
  /** Refuses to write a file that is there. */
  isNew?: boolean;
  /** Refuses to write a file that has another content than this SHA-256. */
  replaces?: string;
  signal?: AbortSignal;
}

type Query = Record<string, string | number | boolean | undefined>;
const tus = { 'Tus-Resumable': '1.0.0' };
const pageSize = 1000;

/** Speaks to one database of one server. Its paths are names divided by slashes. */
export class Stardust {
  readonly #base: string;
  readonly #fetch: typeof fetch;
  readonly #headers: Record<string, string> = {};

  /** @param server the database's address, such as http://127.0.0.1:8080/ */
  constructor(server: string, options: Options = {}) {
    this.#base = new URL(server).href.replace(/\/*$/, '/');
    this.#fetch = options.fetch ?? ((input, init) => globalThis.fetch(input, init));
    if (options.token) this.#headers['Authorization'] = `Bearer ${options.token}`;
    else if (options.user) this.#headers['Authorization'] = `Basic ${base64(`${options.user}:${options.password ?? ''}`)}`;
  }

  /** What the database holds and what this client may do. */
  info(): Promise<Info> { return this.#json('v1/info'); }

  /** Opens a file, a range of it, or a payload by {@link open}. */
  read(path: string, options: ReadOptions = {}): Promise<Response> {
    return this.#bytes(address('files', path, { at: options.at }), options);
  }

  /** Lists a directory in name order, page by page. */
  async *list(path: string, options: { at?: number; times?: boolean } = {}): AsyncGenerator<TimedNode> {
    for (let after: string | undefined; ;) {
      const page = await this.#json<TimedNode[] | null>(address('files', path, { ...options, after, limit: pageSize })) ?? [];
      yield* page;
      after = page.at(-1)?.name;
      if (page.length < pageSize) return;
    }
  }

  /** A directory and everything beneath it, as one stream. */
  archive(path: string, format: 'tar' | 'zip', at?: number): Promise<Response> {
    return this.#request(address('files', path, { format, at }));
  }

  /** Writes a file whole, or leaves everything as it was. */
  write(path: string, body: BodyInit, options: WriteOptions = {}): Promise<Node> {
    const stream = body instanceof ReadableStream ? { duplex: 'half' } : {}; // which fetch asks for
    return this.#json(address('files', path), { method: 'PUT', body, headers: conditions(options), ...signalOf(options), ...stream } as RequestInit);
  }

  async remove(path: string, options: { recursive?: boolean } = {}): Promise<void> {
    await this.#request(address('files', path, options), { method: 'DELETE' });
  }

  /** Removes files and directories with everything in them, in one commit. */
  async removeAll(paths: string[]): Promise<void> { await this.#send('v1/remove', { paths, recursive: true }); }

  /** Moves files and directories into a directory, in one commit. */
  async moveInto(into: string, paths: string[]): Promise<void> { await this.#send('v1/move-into', { paths, into }); }

  /** How much is in a directory, and where its pages begin. */
  outline(path: string, at?: number): Promise<Outline> { return this.#json(address('outline', path, { at })); }

  /** The largest files beneath a path. */
  largest(path: string, options: { at?: number; limit?: number } = {}): Promise<{ found: Found[] | null; complete: boolean }> {
    return this.#json(address('largest', path, { ...options }));
  }

  /** How the database grew over its revisions. */
  growth(): Promise<{ points: GrowthPoint[]; complete: boolean }> { return this.#json('v1/growth'); }

  makeDirectory(path: string): Promise<Node> { return this.#json(address('directories', path), { method: 'PUT' }); }

  move(request: Schemas['MoveRequest']): Promise<Node> { return this.#post('v1/move', request); }

  copy(request: Schemas['CopyRequest']): Promise<Node> { return this.#post('v1/copy', request); }

  /** The versions of what is at a path, the oldest first. */
  async history(path: string, at?: number): Promise<Version[]> { return await this.#json<Version[] | null>(address('history', path, { at })) ?? []; }

  /** What commits did beneath a path, the newest first. */
  async commits(path: string, options: { before?: number; limit?: number } = {}): Promise<Commit[]> {
    return await this.#json<Commit[] | null>(address('commits', path, { ...options })) ?? [];
  }

  /** Finds what has a text in its name. */
  search(path: string, name: string, options: { at?: number; limit?: number } = {}): Promise<{ found: Found[] | null; complete: boolean }> {
    return this.#json(address('search', path, { name, ...options }));
  }

  /** Yields commits as they happen, from a revision on; it ends with the signal or the connection. */
  async *changes(path: string, options: { after?: number; signal?: AbortSignal } = {}): AsyncGenerator<Commit> {
    const headers: Record<string, string> = options.after === undefined ? {} : { 'Last-Event-ID': String(options.after) };
    const answer = await this.#request(address('changes', path), { headers, ...signalOf(options) });
    const lines = answer.body!.pipeThrough(new TextDecoderStream());
    let event = '', data = '', rest = '';
    for await (const piece of lines as unknown as AsyncIterable<string>) {
      const whole = (rest + piece).split('\n');
      rest = whole.pop()!;
      for (const line of whole) {
        if (line.startsWith('event: ')) event = line.slice(7);
        else if (line.startsWith('data: ')) data += line.slice(6);
        else if (line === '') {
          if (event === 'commit') yield JSON.parse(data) as Commit;
          event = data = '';
        }
      }
    }
  }

  /** One of the operations of the objects spec, by entity. */
  async call<Name extends Operation>(name: Name, request: OperationRequest<Name>, at?: number): Promise<OperationResult<Name>> {
    const answer = await this.#request(`v1/objects/${name}${search({ at })}`, {
      method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(request),
    });
    return (answer.status === 204 ? undefined : await answer.json()) as OperationResult<Name>;
  }

  /** Stores a payload, which {@link call} of create or update names. */
  upload(body: BodyInit): Promise<Schemas['Published']> { return this.#json('v1/payloads', { method: 'POST', body }); }

  /** Opens a payload by its SHA-256. */
  open(sha256: string, options: Omit<ReadOptions, 'at'> = {}): Promise<Response> { return this.#bytes(`v1/payloads/${sha256}`, options); }

  /** Begins an upload that goes on after a break, and returns its id. */
  async beginUpload(path: string, size: number, options: WriteOptions = {}): Promise<string> {
    const headers = { ...tus, ...conditions(options), 'Upload-Length': String(size), 'Upload-Metadata': `path ${base64(path)}` };
    const answer = await this.#request('v1/uploads', { method: 'POST', headers, ...signalOf(options) });
    return answer.headers.get('Location')!.split('/').at(-1)!;
  }

  /** Sends what is missing of an upload; after an error it may be called again. */
  async continueUpload(id: string, content: Blob, options: { signal?: AbortSignal } = {}): Promise<void> {
    const answer = await this.#request(`v1/uploads/${id}`, { method: 'HEAD', headers: tus, ...signalOf(options) });
    const offset = Number(answer.headers.get('Upload-Offset'));
    if (offset >= Number(answer.headers.get('Upload-Length'))) return;
    await this.#request(`v1/uploads/${id}`, {
      method: 'PATCH', body: content.slice(offset), ...signalOf(options),
      headers: { ...tus, 'Upload-Offset': String(offset), 'Content-Type': 'application/offset+octet-stream' },
    });
  }

  async cancelUpload(id: string): Promise<void> { await this.#request(`v1/uploads/${id}`, { method: 'DELETE', headers: tus }); }

  /** This client's unfinished uploads. */
  async uploads(): Promise<Unfinished[]> { return await this.#json<Unfinished[] | null>('v1/uploads') ?? []; }

  #bytes(url: string, options: ReadOptions): Promise<Response> {
    const headers: Record<string, string> = {};
    if (options.offset !== undefined || options.length !== undefined) {
      const first = options.offset ?? 0;
      headers['Range'] = `bytes=${first}-${options.length === undefined ? '' : first + options.length - 1}`;
    }
    return this.#request(url, { headers, ...signalOf(options) });
  }

  async #request(url: string, init: RequestInit = {}): Promise<Response> {
    let answer: Response;
    try {
      answer = await this.#fetch(this.#base + url, { ...init, headers: { ...this.#headers, ...init.headers as Record<string, string> } });
    } catch (error) {
      if ((error as Error).name === 'AbortError') throw error;
      throw new Problem(0, { status: 'io', message: `the server does not answer: ${(error as Error).message}` });
    }
    if (answer.ok) return answer;
    throw new Problem(answer.status, await answer.json().catch(() => null) as Schemas['Problem'] | null);
  }

  async #json<T>(url: string, init?: RequestInit): Promise<T> { return await (await this.#request(url, init)).json() as T; }

  #send(url: string, body: unknown): Promise<Response> {
    return this.#request(url, { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(body) });
  }

  async #post<T>(url: string, body: unknown): Promise<T> { return await (await this.#send(url, body)).json() as T; }
}

function search(query: Query): string {
  const given = Object.entries(query).filter(([, value]) => value !== undefined && value !== false).map(([name, value]) => [name, String(value)]);
  return given.length ? `?${new URLSearchParams(given)}` : '';
}

function address(kind: string, path: string, query: Query = {}): string {
  return `v1/${kind}/${path.split('/').filter(Boolean).map(encodeURIComponent).join('/')}${search(query)}`;
}

function conditions(options: WriteOptions): Record<string, string> {
  const headers: Record<string, string> = {};
  if (options.isNew) headers['If-None-Match'] = '*';
  if (options.replaces) headers['If-Match'] = `"${options.replaces}"`;
  return headers;
}

const signalOf = (options: { signal?: AbortSignal }): RequestInit => (options.signal ? { signal: options.signal } : {});

const base64 = (text: string): string => btoa(String.fromCharCode(...new TextEncoder().encode(text)));
