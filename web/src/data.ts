// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The data of a page, as src/report/PageData.cpp writes it: "reconverge-page/1".
// Shares are 0 to 1, of the run where nothing else is said.

export interface Remedy {
  name: string;
  gain: number; // at most, a share of the run
  price: number; // of that, what it costs; 0: not known
  byHand: boolean;
}

export interface Place {
  at: string;
  what: string;
  file: number; // in files; -1: not shown
  line: number; // 0: not known
  depth: number;
  copies: number;
  kernels: number[];
  inlinedAt: string[];
  inlinedInMany: boolean;
  self: number;
  total: number;
  regrouped?: [number, number, number]; // in the warp, the block, the grid
  warps: number;
  split: number;
  kind: string;
  sides: number[]; // lanes each way
  advice: string[];
  remedies: Remedy[];
}

export interface Block {
  file: number;
  line: number;
  instructions: number;
  slots: number; // of all executions
  counts: [warps: number, lanes: number, partialIdle: number, exitedIdle: number];
  next: number[];
}

export interface Branch {
  block: number;
  condition: string;
  reason: string;
  kind: string;
  to: number[];
  lanesTo: number[];
  warps: number;
  splits: number;
  self: number; // of the kernel
  total: number;
}

export interface Shape {
  grid: [number, number, number];
  block: [number, number, number];
  dynamicShared: number;
}

export interface Vectors extends Shape {
  launch: number; // from 1; 0: there are none
  classes: number[][]; // how often each block ran
  threadBlocks: { number: number; runs: number[] }[]; // class, threads, class, ...
}

export interface Kernel {
  name: string;
  full: string;
  launches: number;
  threads: number;
  warpSize: number;
  warps: number;
  seconds: number;
  ofRun: number;
  cfe: number;
  potential: number;
  attainable: number; // 0: not known
  boundBy: string; // empty: not known
  divergent: number; // of its warps
  fine: boolean;
  whyIdle: string;
  slots: number;
  fullSlots: number;
  time?: {
    cycles: [number, number, number]; // and between what it lies
    latency: number;
    units: string[];
    busy: number[];
  };
  slotsByLanes: number[];
  blocks: Block[];
  branches: Branch[];
  hasVectors: boolean;
}

export interface Line {
  line: number;
  ofRun: number; // of the run's issue slots
  lanes: number; // of all lanes, those that work
  self: number;
  total: number;
}

export interface SourceFile {
  name: string;
  short: string;
  newer: boolean; // than the profile
  text?: string;
  lines: Line[];
}

export interface Access {
  kernel: number;
  at: string;
  file: number; // in files; -1: not shown
  line: number; // 0: not known
  what: string;
  which: string;
  requests: number;
  ofKernel: number;
}

export interface Trace {
  kernels: string[];
  shapes: Shape[];
  launches: number[]; // kernel, shape, stream, kernel, ...
  more: number;
}

type Range = [value: number, low: number, high: number]; // 0: not known

export interface Trial {
  what: string;
  end: string;
  why: string;
  verdict: string;
  launches: number;
  bytes: number;
  forecast: Range;
  predicted: Range;
  achieved: Range;
  milliseconds: number;
}

export interface Decided {
  name: string;
  keep: string;
  measured: boolean;
  milliseconds: number;
  why: string;
  gain: number;
  compilerGain: number;
  baseline: string;
  tried: Trial[];
}

/** Candidates that change results, together, and what the outputs came to. */
export interface QualitySet {
  candidates: string[];
  speedup: number;
  heldOutSpeedup: number; // 0: not run on held-out inputs
  trained: string; // worst quality; empty: it did not come to that
  heldOut: string;
  best: boolean; // no other set is as fast and as good
  why: string; // empty: it is kept
}

export interface Decisions {
  program: string;
  device: string;
  notes: string[];
  kernels: Decided[];
  quality?: { asked: string; verdict: string; sets: QualitySet[] };
  whole?: { runs: number; final: number; ours: number; nvcc: number; clang: number };
}

export interface Data {
  schema: string;
  program: string;
  arguments: string[];
  countedOn: string;
  sharesAreOfTime: boolean;
  timesAreOfCpu: boolean;
  exitStatus: number;
  notes: string[];
  refused: string[];
  whyNoKernels: string; // empty if there are any
  next?: { words: string; command: string }; // no command: to do nothing
  kernels: Kernel[];
  ranking: number[];
  places: Place[];
  slightPlaces: number;
  accesses: Access[];
  files: SourceFile[];
  trace?: Trace;
  decisions?: Decisions;
}

const parse = (id: string): unknown => JSON.parse(document.getElementById(id)?.textContent ?? "null");

/** Of each kernel; long, so they are read when somebody looks at them. */
export function readVectors(): Vectors[] {
  return (parse("vectors") as { kernels: Vectors[] }).kernels;
}

export function readData(): Data {
  const data = parse("data") as Data | string | null;
  if (!data || typeof data === "string" || data.schema !== "reconverge-page/1")
    throw new Error("This page has no data: reconverge report --format html makes one that has.");
  return data;
}
