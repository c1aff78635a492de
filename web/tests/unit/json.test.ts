import { describe, expect, it } from 'vitest';
import { memberText } from '../../src/client/json.js';

describe('memberText', () => {
  it.each([
    ['{"result":1}', '1'],
    ['{ "a" : [ {"result":2} ] , "result" : -1.50e+3 }', '-1.50e+3'],
    ['{"result": {"a":"}]\\"","b":[{}]} ,"x":null}', '{"a":"}]\\"","b":[{}]}'],
    ['{"result":"a \\\\","x":1}', '"a \\\\"'],
    ['{"res\\u0075lt":[1, 2]}', '[1, 2]'],
    ['{"result":1,"result":2}', '2'],
    ['{"result":null}', 'null'],
    ['\n{"text":"\\"result\\":9","result":true\n}', 'true'],
  ])('of %s', (object, text) => {
    expect(memberText(object, 'result')).toBe(text);
    expect(JSON.parse(text)).toEqual(JSON.parse(object).result);
  });

  it.each(['{}', ' { } ', '{"a":{"result":1}}', '{"results":1}'])('is absent from %s', (object) => {
    expect(memberText(object, 'result')).toBeUndefined();
  });

  it('keeps digits that a double cannot hold', () => {
    expect(memberText('{"result":[9007199254740993]}', 'result')).toBe('[9007199254740993]');
  });

  it('is quick on a megabyte', () => {
    const result = JSON.stringify(Array.from({ length: 40_000 }, (_, n) => ({ n, name: `flight "${n}"` })));
    expect(memberText(`{"result":${result},"cache":null}`, 'result')).toBe(result);
  });
});
