/** What the server says, as src/paddlejob/ui/{rows,board,details,actions}.py define it. */

export interface At {
  place: string;
  namespace: string;
  name: string;
}

export interface Row extends At {
  uid: string;
  phase: string;
  over: boolean;
  mode: string;
  ps: string;
  worker: string;
  restarts: number;
  disruptions: number;
  reason: string;
  /** A percentage, or a step where no total is known. */
  progress: string;
  eta: string;
  created: string;
  ended: string;
}

export interface PlaceState {
  name: string;
  known: boolean;
  trouble: string;
}

export interface News {
  whole: boolean;
  jobs: Row[];
  gone: [string, string, string][];
  places: PlaceState[];
}

export interface Moment {
  at: string;
  what: string;
  reason: string;
  text: string;
}

export interface Pod {
  name: string;
  role: string;
  index: number;
  attempt: number;
  state: string;
  word: string;
  node: string;
  address: string;
  restarts: number;
  exitCode: number | null;
  since: string;
  until: string;
}

export interface Possible {
  suspend: boolean;
  resume: boolean;
  scale: { now: number; least: number; most: number } | null;
  delete: boolean;
}

export interface Progress {
  at: string;
  percent: number | null;
  step: number | null;
  total: number | null;
  epoch: number | null;
  loss: number | null;
  metrics: Record<string, number>;
  pace: string;
}

export interface Point {
  step: number;
  loss: number | null;
  speed: number | null;
}

export interface Details {
  row: Row;
  why: string;
  about: [string, string][];
  failure: { pod: string; exitCode?: number; reason?: string; message?: string } | null;
  progress: Progress | null;
  roles: { name: string; replicas: number; ready: string }[];
  network: string;
  attempt: number;
  backoffLimit: number;
  moments: Moment[];
  pods: Pod[];
  podsInAll: number;
  /** Time, type, reason, message. */
  events: [string, string, string, string][];
  possible: Possible;
  /** Why the person may not see its pods or its events. */
  refused: { pods?: string; events?: string };
}

export interface About {
  readOnly: boolean;
  places: { name: string; namespace: string }[];
}

export interface Mistake {
  line: number;
  column: number;
  text: string;
}

export interface Judgement {
  mistakes: Mistake[];
  jobs: [string, string, string][];
  /** What else is applied, such as "Secret keys". */
  beside: string[];
}

/** Pod, number of its log, text; without text it is a heading. */
export type LogEntry = [string, number, string] | [string, number];
