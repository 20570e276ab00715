/** The types that the table of names promises to those who come from Kopf: they are there, and are what they seem. */
import type * as kopf from 'kopf-ts';
import { expectTypeOf, it } from 'vitest';

/** By the spelling of the table; the test of the table looks the names up here. */
interface Promised {
  ConnectionInfo: kopf.ConnectionInfo;
  ErrorsMode: kopf.ErrorsMode;
  LogFormat: kopf.LogFormat;
  Logger: kopf.Logger;
  Registry: kopf.Registry;
  Settings: kopf.Settings;
  ProgressRecord: kopf.ProgressRecord;
  ProgressStorage: kopf.ProgressStorage;
  DiffBaseStorage: kopf.DiffBaseStorage;
  WatchEvent: kopf.WatchEvent;
  "WatchEvent['type']": kopf.WatchEvent['type'];
  AnyObject: kopf.AnyObject;
  Body: kopf.Body;
  Essence: kopf.Essence;
  ObjectMeta: kopf.ObjectMeta;
  "Watch['spec']": kopf.Watch['spec'];
  "Watch['status']": kopf.Watch['status'];
  "Watch['labels']": kopf.Watch['labels'];
  "Watch['annotations']": kopf.Watch['annotations'];
  ObjectReference: kopf.ObjectReference;
  OwnerReference: kopf.OwnerReference;
  Resource: kopf.Resource;
  Memo: kopf.Memo;
  Index: kopf.Index;
  Store: kopf.Store<unknown>;
  Diff: kopf.Diff;
  DiffItem: kopf.DiffItem;
  DiffOperation: kopf.DiffOperation;
  FieldPath: kopf.FieldPath;
  FieldSpec: kopf.FieldSpec;
  HandlerId: kopf.HandlerId;
  HandlingReason: kopf.HandlingReason;
  PatchFn: kopf.PatchFn;
  StopReason: kopf.StopReason;
  AbortSignal: AbortSignal;
  Operation: kopf.Operation;
  UserInfo: kopf.UserInfo;
  "Admission['headers']": kopf.Admission['headers'];
  "Admission['sslpeer']": kopf.Admission['sslpeer'];
  ReviewFn: kopf.ReviewFn;
  WebhookServer: kopf.WebhookServer;
  WebhookClientConfig: kopf.WebhookClientConfig;
  WebhookServiceReference: kopf.WebhookServiceReference;
}

it('has a type behind each promised name', () => {
  expectTypeOf<Promised['Body']>().toExtend<{ readonly metadata?: unknown }>();
  expectTypeOf<Promised["Admission['headers']"]>().toExtend<Readonly<Record<string, string>>>();
  expectTypeOf<Promised["WatchEvent['type']"]>().toExtend<string | null>();
  expectTypeOf<Promised["Watch['labels']"]>().toExtend<Readonly<Record<string, string | undefined>>>();
});
