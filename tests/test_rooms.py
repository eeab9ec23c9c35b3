"""Every file knows its room: what each one may import is written here.

Reading down, a file imports only from files above it. Torch is a corridor in the middle: what can
be decided by arithmetic is decided before it, and everything after it reads records. An import
inside a function counts like one at the top; one for type checkers only is free.

Words
    door     a name that others import: a file, or a package of the same name
    face     the `__init__` of a package: names handed on, no code of its own
    private  a file `_like_this` behind a door; nobody outside the door imports it
"""

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import batchlab

HOUSE = Path(batchlab.__file__).parent

# file: "files that it uses, ~ inside functions | libraries at import | libraries inside functions"
ROOMS = {
    "": "||",
    "units": "||",
    "counts": "|| torch",  # what a micro-batch holds; a record of it needs no torch
    # paper: numpy at most
    "reading": "||",
    "lengths": "reading units | numpy |",
    "padding": "lengths units | numpy |",
    "buckets": "lengths padding units | numpy |",
    "packing._fit_rules": "| numpy |",
    "packing._pack": "lengths packing._fit_rules units | numpy |",
    "packing._stream": "lengths packing._pack units | numpy |",
    "packing": "packing._pack packing._stream ||",
    "plan._plan": "units ||",
    "plan._settings": "plan._plan reading units ||",
    "plan._formats": "plan._plan plan._settings ||",
    "plan._meshes": "plan._formats plan._plan plan._settings ||",
    "plan._rollouts": "plan._formats plan._meshes plan._plan plan._settings ||",
    "plan._text": "plan._settings reading || yaml",
    "plan._launch": "plan._formats plan._meshes plan._rollouts plan._settings plan._text ||",
    "plan": "plan._launch plan._plan ||",
    "memory._formula": "plan units ||",
    "memory": "memory._formula ||",
    "roofline._formula": "memory units ||",
    "roofline": "roofline._formula ||",
    "cluster._collectives": "roofline units ||",
    "cluster._sharding": "memory units ||",
    "cluster._pipeline": "units | numpy |",
    "cluster._bill": "roofline units ||",
    "cluster": "cluster._bill cluster._collectives cluster._pipeline cluster._sharding ||",
    "cluster._ring": "| numpy |",
    "cluster._simulated": "cluster._ring units | numpy |",
    "cluster._baton": "cluster._collectives cluster._simulated | numpy |",
    "cluster.ranks": "cluster._baton cluster._collectives cluster._ring cluster._simulated units "
    "||",
    "serving._requests": "lengths reading units | numpy |",
    "serving._cost": "memory roofline units | numpy |",
    "serving._policy": "units ||",
    "serving._simulate": "serving._cost serving._policy serving._requests units | numpy |",
    "serving": "serving._cost serving._policy serving._requests serving._simulate ||",
    "rates._range": "units ||",
    "rates._rules": "rates._range units ||",
    "rates._curve": "units ||",
    "rates._ramps": "units ||",
    "rates._compare": "rates._range rates._rules ||",
    "rates": "rates._compare rates._curve rates._ramps rates._range rates._rules ||",
    "noise._formula": "units | numpy |",
    "noise._critical": "noise._formula units | numpy |",
    "noise._published": "units | numpy |",
    "noise": "noise._critical noise._formula noise._published ||",
    "adapt._decide": "noise plan units ||",
    "adapt._grow": "adapt._decide noise rates units ||",
    "adapt._keep": "adapt._decide units ||",
    "adapt": "adapt._decide adapt._grow adapt._keep ||",
    "records._cell": "counts ||",
    "records._environment": "records._cell ||",
    "records._schema": "counts records._cell ||",
    "records._file": "reading records._cell records._schema ||",
    "records": "records._cell records._environment records._file records._schema ||",
    "data._corpus": "counts | numpy | datasets tokenizers",
    "data._columns": "data._corpus reading | numpy |",
    "data._tokens": "data._columns data._corpus | numpy | transformers",
    "data._files": "reading || pyarrow",
    "data._documents": "data._columns data._files data._tokens reading | numpy |",
    "data._load": "data._columns data._corpus data._documents data._files data._tokens || "
    "datasets tqdm",
    "data._blocks": "data._columns data._corpus data._load data._tokens units || datasets",
    "data._shards": "data._corpus packing units | numpy |",
    "data": "data._blocks data._corpus data._load data._shards ||",
    # the corridor: torch
    "model": "|| torch transformers",
    "timing": "|| torch",
    "attention._backends": "| torch | flash_attn",
    "attention._varlen": "attention._backends counts model | torch | transformers",
    "attention": "attention._varlen ||",
    "batches": "counts lengths | numpy torch |",
    "loader": "batches counts lengths packing | torch |",
    "loop._forward": "counts model | torch |",
    "loop._world": "counts | torch |",
    "loop._gradients": "loop._world | torch |",
    "loop._chunked": "loop._forward | torch |",
    "loop._step": "counts loop._chunked loop._forward loop._gradients loop._world | torch |",
    "loop._observed": "counts | numpy torch |",
    "loop._mistakes": "| numpy |",
    "loop._comparison": "loop._mistakes ||",
    "loop._compare": "batches counts loop._comparison loop._forward loop._mistakes loop._observed "
    "| torch |",
    "loop": "loop._compare loop._comparison loop._step loop._world ||",
    "roofline.device": "records roofline._formula timing units | torch |",
    "serving.generate": "lengths model serving._cost serving._policy serving._requests "
    "serving._simulate | numpy torch transformers |",
    "cluster._source": "||",
    "cluster._world": "loop | torch |",
    "cluster._pointer": "||",
    "cluster._checkpoints": "cluster._pointer | torch |",
    "cluster._alive": "||",
    "cluster.training": "cluster._pointer ||",
    "cluster.distributed": "cluster._ring cluster._simulated cluster._source cluster._world units "
    "| numpy torch |",
    "rates.schedule": "rates._curve rates._range units | torch |",
    "noise._taps": "counts | torch |",
    "noise._shards": "noise._taps | torch |",
    "noise.norms": "noise._formula noise._shards noise._taps units | torch | transformers",
    "memory.limits": "| torch |",
    "memory.optimizers": "| torch |",
    "memory.adapters": "| torch | peft",
    "memory.offload": "| torch |",
    "memory._counter": "| torch |",
    "memory._storages": "| torch |",
    "memory._journal": "records ||",
    "memory._layers": "||",
    "memory._shards": "||",
    "memory._step": "loop memory._shards memory.offload memory.optimizers | torch |",
    "memory._models": "memory._layers memory._shards memory._step ~model | torch | transformers",
    "memory._states": "memory._layers memory._models memory._step || torch",
    "memory._rehearsal": "loop memory._counter memory._step memory.limits | torch |",
    "memory.trace": "memory._counter memory._layers memory._models memory._rehearsal "
    "memory._shards memory._states memory._step memory._storages units | torch | transformers",
    "memory._forecast": "memory.trace ||",
    "memory._finder": "batches counts lengths memory.limits plan ||",
    "memory._candidates": "lengths memory._forecast memory._models memory._shards memory._step "
    "plan units | torch |",
    "memory.fit": "batches lengths memory._candidates memory._counter memory._finder "
    "memory._journal memory._models memory._rehearsal memory._step memory.optimizers model plan "
    "units | torch |",
    "stopwatch": "counts loop model records timing | torch |",
    "sweep": "batches counts lengths memory.limits model records stopwatch | numpy | torch",
    "monitor._unwrapped": "model | torch |",
    "monitor._probe": "counts memory.limits model monitor._unwrapped records timing | numpy "
    "torch |",
    "monitor._recorder": "counts model monitor._probe monitor._unwrapped records timing | torch |",
    "monitor._watch": "monitor._recorder monitor._unwrapped | torch | transformers",
    "monitor": "monitor._watch ||",
    "cluster._lanes": "batches cluster.training data packing | numpy torch |",
    "cluster._process": "batches cluster._alive cluster._checkpoints cluster._lanes "
    "cluster._world cluster.training data loop model monitor packing | numpy torch |",
    "cluster._member": "cluster._alive ~cluster._process ||",
    # evidence: no torch once it is measured
    "doctor._steps": "records | numpy |",
    "doctor._solve": "doctor._steps | numpy |",
    "doctor.prices": "doctor._solve doctor._steps records | numpy |",
    "doctor._interval": "doctor._steps records | numpy |",
    "doctor._parts": "doctor._interval doctor._steps doctor.prices records | numpy |",
    "doctor._causes": "doctor._interval doctor._parts doctor._steps records | numpy |",
    "doctor._experiment": "records ||",
    "doctor._diagnosis": "doctor._causes doctor._experiment doctor._interval doctor._parts "
    "doctor.prices records ||",
    "doctor": "doctor._causes doctor._diagnosis doctor._experiment doctor._interval doctor._parts "
    "||",
    "doctor.throughput": "doctor._diagnosis doctor.prices records roofline ||",
    "plots._canvas": "units | matplotlib |",
    "plots._learning": "plots._canvas | matplotlib numpy |",
    "plots._memory": "plots._canvas units | matplotlib numpy |",
    "plots._predicted": "plots._canvas | matplotlib numpy |",
    "plots._series": "plots._canvas units | matplotlib numpy |",
    "plots._slots": "packing padding plots._canvas units | matplotlib numpy |",
    "plots._speed": "plots._canvas units | matplotlib numpy |",
    "plots._waste": "padding plots._canvas units | matplotlib numpy |",
    "plots._dots": "plots._canvas | matplotlib |",
    "plots._scale": "plots._canvas units ||",
    "plots": "plots._canvas plots._dots plots._learning plots._memory plots._predicted "
    "plots._scale plots._series plots._slots plots._speed plots._waste ||",
    "report._tables": "padding units ||",
    "report._stages": "records report._tables units ||",
    "report._diagnosis": "report._tables units ||",
    "report": "report._diagnosis report._stages report._tables ||",
    "report.figures": "data doctor doctor.throughput ~memory.trace ~model ~plots ||",
    "widgets._scripted": "|| anywidget traitlets",
    "widgets._sliders": "widgets._scripted ||",
    "widgets._explorers": "packing padding plan units widgets._sliders | numpy |",
    "widgets": "widgets._explorers widgets._scripted ||",
    # the command line
    "cli._answer": "||",
    "cli._progress": "|| tqdm",
    "cli.options": "packing roofline units || torch",
    "cli._source": "~data lengths ~model reading | numpy |",
    "cli._training": "cli.options ~memory.adapters ~memory.optimizers units ||",
    "cli._measuring": "~attention cli._progress cli._source cli.options ~data ~model records "
    "~sweep ||",
    "cli._checked": "cli.options records ||",
    "cli._shapes": "memory || transformers",
    "cli._bill": "cli._shapes cli.options cluster plan report roofline units ||",
    "cli.doctor": "cli._answer cli._measuring cli.options doctor doctor.prices ~plots records "
    "report ~sweep ||",
    "cli.fit": "cli._answer cli._progress cli._source cli._training cli.options ~data ~memory.fit "
    "~memory.trace ~model report units ||",
    "cli.memory": "cli._answer cli._shapes cli._training cli.options ~memory.trace ~plots report "
    "units || transformers",
    "cli.pack": "cli._answer cli._source cli.options packing padding ~plots report units | numpy |",
    "cli.padding": "cli._answer cli._source cli.options lengths padding ~plots report units | "
    "numpy |",
    "cli.plan": "cli._answer cli._bill cli._source cli.options packing padding plan report units "
    "| numpy |",
    "cli.rates": "cli._answer cli.options ~plots rates report ||",
    "cli.noise": "~batches cli._answer cli._progress cli._source cli.options ~data ~loop ~model "
    "noise ~noise.norms ~plots report || torch",
    "cli.report": "cli._answer cli._measuring cli.options data doctor.throughput records report "
    "report.figures ~sweep units ||",
    "cli.same_step": "~batches cli._answer cli._source cli.options ~data ~loop ~model reading || "
    "torch transformers",
    "cli.train": "cli._answer cli._progress cli.options ~cluster.training report ||",
    "cli.sweep": "cli._answer cli._measuring cli.options doctor.throughput records report ~sweep "
    "||",
    "cli.serve_sim": "cli._answer cli._shapes cli.options ~data ~plots report serving units | "
    "numpy |",
    "cli._main": "cli._answer cli._checked cli.options ~plots ||",  # a verb: when it is asked for
    "cli": "cli._main ||",
    "__main__": "cli ||",
    # the classroom: what runs in a learner's notebook
    "classroom.showing": "| numpy |",
    "classroom.plain": "classroom.showing | numpy |",
    "classroom.verdict": "classroom.plain ||",
    "classroom.afar": "||",
    "classroom.term": "||",
    "classroom.copies": "classroom.showing | numpy |",
    "classroom.again": "classroom.afar classroom.copies | numpy |",
    "classroom.behaviour": "classroom.afar classroom.again classroom.copies classroom.plain "
    "classroom.showing classroom.verdict ||",
    "classroom.planted": "classroom.afar classroom.behaviour classroom.copies classroom.plain "
    "classroom.term classroom.verdict ||",
    "classroom.values": "classroom.plain classroom.showing classroom.verdict | numpy |",
    "classroom.items": "classroom.plain classroom.showing classroom.values classroom.verdict | "
    "numpy |",
    "classroom.check": "classroom.behaviour classroom.items classroom.planted classroom.term "
    "classroom.values classroom.verdict | numpy |",
    "classroom.opening": "||",
    "classroom.predict": "classroom.opening classroom.plain classroom.showing widgets || IPython",
    "classroom.quiz": "widgets ||",
    "classroom": "classroom.opening ||",
    "classroom.probes._load": "||",
    "classroom.probes": "classroom.probes._load ||",
    "classroom.probes.orders_03": "batches data loop model padding | numpy torch |",
    "classroom.probes.attempt": "classroom.behaviour ||",
    "classroom.probes.lesson_03_versions": "| numpy |",
    "classroom.probes.lesson_03": "classroom.plain classroom.probes.attempt "
    "classroom.probes.orders_03 classroom.probes.lesson_03_versions padding units widgets "
    "| numpy torch |",
    "classroom.probes.lesson_04_collator": "batches model packing | numpy torch |",
    "classroom.probes.lesson_04_cases": "classroom.probes.lesson_04_collator | numpy |",
    "classroom.probes.lesson_04_fits": "classroom.plain | numpy |",
    "classroom.probes.lesson_04_masks": "| numpy |",
    "classroom.probes.lesson_04_rows": "batches classroom.probes.attempt "
    "classroom.probes.lesson_04_cases classroom.probes.lesson_04_fits "
    "classroom.probes.lesson_04_masks | numpy |",
    "classroom.probes.lesson_04_ways": "attention batches classroom.probes.lesson_04_collator loop "
    "model | numpy torch |",
    "classroom.probes.lesson_04": "batches classroom.probes.attempt "
    "classroom.probes.lesson_04_cases classroom.probes.lesson_04_collator "
    "classroom.probes.lesson_04_fits classroom.probes.lesson_04_masks "
    "classroom.probes.lesson_04_rows classroom.probes.lesson_04_ways packing widgets | numpy |",
    "classroom.probes.bigram": "counts | torch |",
    "classroom.probes.collators": "counts | torch |",
    "classroom.mine": "classroom.opening classroom.showing ||",
    "classroom.probes.lesson_06": "classroom.probes.attempt packing widgets ||",
    "classroom.probes.lesson_07_versions": "||",
    "classroom.probes.guard_07": "| torch |",
    "classroom.probes.chunks_07": "loop memory.trace | numpy torch |",
    "classroom.probes.lesson_07": "classroom.plain classroom.probes.attempt "
    "classroom.probes.chunks_07 classroom.probes.guard_07 classroom.probes.lesson_07_versions "
    "memory plan units widgets ||",
    "classroom.probes.device_09": "||",
    "classroom.probes.lesson_09_versions": "| numpy |",
    "classroom.probes.lesson_09": "classroom.plain classroom.probes.attempt "
    "classroom.probes.device_09 classroom.probes.lesson_09_versions records roofline units widgets "
    "| numpy |",
    "classroom.probes.lesson_10_feeding": "lengths | numpy torch |",
    "classroom.probes.lesson_10_processes": "| numpy torch |",
    "classroom.probes.lesson_10_readers": "||",
    "classroom.probes.lesson_10_rows": "||",
    "classroom.probes.lesson_10_streams": "classroom.probes.lesson_10_processes | numpy |",
    "classroom.probes.lesson_10": "classroom.plain classroom.probes.attempt "
    "classroom.probes.lesson_10_feeding classroom.probes.lesson_10_readers "
    "classroom.probes.lesson_10_rows classroom.probes.lesson_10_streams widgets ||",
    "classroom.probes.lesson_11_ward": "counts records | numpy |",
    "classroom.probes.lesson_11_shares": "| numpy |",
    "classroom.probes.lesson_11_versions": "classroom.probes.lesson_11_shares | numpy |",
    "classroom.probes.lesson_11_doctors": "classroom.probes.lesson_11_versions | numpy |",
    "classroom.probes.lesson_11_exact": "classroom.probes.lesson_11_doctors | numpy |",
    "classroom.probes.lesson_11_finder": "classroom.plain data padding widgets | numpy |",
    "classroom.probes.lesson_11_live": "attention data model records sweep || torch",
    "classroom.probes.lesson_11": "classroom.plain classroom.probes.attempt "
    "classroom.probes.lesson_11_doctors classroom.probes.lesson_11_exact "
    "classroom.probes.lesson_11_finder classroom.probes.lesson_11_live "
    "classroom.probes.lesson_11_versions classroom.probes.lesson_11_ward doctor | numpy |",
    "classroom.probes.lesson_14_world": "| numpy |",
    "classroom.probes.lesson_14_hessian": "classroom.probes.lesson_14_world | numpy | torch",
    "classroom.probes.lesson_14_verdicts": "||",
    "classroom.probes.lesson_14_versions": "classroom.probes.lesson_14_verdicts | numpy |",
    "classroom.probes.lesson_14_judges": "classroom.probes.lesson_14_versions ||",
    "classroom.probes.lesson_14_scenes": "classroom.probes.lesson_14_judges | numpy |",
    "classroom.probes.lesson_14_finder": "classroom.plain classroom.probes.lesson_14_hessian "
    "classroom.probes.lesson_14_world widgets ||",
    "classroom.probes.lesson_14": "classroom.plain classroom.probes.attempt "
    "classroom.probes.lesson_14_finder classroom.probes.lesson_14_hessian "
    "classroom.probes.lesson_14_judges classroom.probes.lesson_14_scenes "
    "classroom.probes.lesson_14_versions classroom.probes.lesson_14_world | numpy |",
    "classroom.probes.lesson_18_trials": "||",
    "classroom.probes.lesson_18_versions": "||",
    "classroom.probes.lesson_18_guesses": "classroom.probes.lesson_18_versions ||",
    "classroom.probes.lesson_18_wrong": "classroom.probes.lesson_18_guesses "
    "classroom.probes.lesson_18_versions ||",
    "classroom.probes.lesson_18_plans": "classroom.probes.lesson_18_versions packing | numpy |",
    "classroom.probes.lesson_18_mistakes": "classroom.probes.lesson_18_plans "
    "classroom.probes.lesson_18_versions ||",
    "classroom.probes.lesson_18_judged": "classroom.plain classroom.probes.lesson_18_mistakes "
    "classroom.probes.lesson_18_plans classroom.probes.lesson_18_versions ||",
    "classroom.probes.lesson_18_finder": "classroom.plain classroom.probes.lesson_18_versions "
    "memory plan roofline widgets ||",
    "classroom.probes.lesson_18_live": "counts loop memory.fit model plan report units | torch |",
    "classroom.probes.lesson_18": "classroom.probes.attempt classroom.probes.lesson_18_finder "
    "classroom.probes.lesson_18_judged classroom.probes.lesson_18_live "
    "classroom.probes.lesson_18_mistakes classroom.probes.lesson_18_plans "
    "classroom.probes.lesson_18_trials classroom.probes.lesson_18_versions "
    "classroom.probes.lesson_18_wrong ||",
    "classroom.probes.lesson_16_growth": "||",
    "classroom.probes.lesson_16_versions": "classroom.probes.lesson_16_growth ||",
    "classroom.probes.lesson_16_runs": "classroom.plain classroom.probes.lesson_16_growth "
    "classroom.probes.lesson_16_versions ||",
    "classroom.probes.lesson_16_scenarios": "classroom.probes.lesson_16_runs | numpy |",
    "classroom.probes.lesson_16_finder": "adapt classroom.plain widgets ||",
    "classroom.probes.lesson_16_live": "data loop model noise.norms | torch |",
    "classroom.probes.lesson_16": "adapt classroom.plain classroom.probes.attempt "
    "classroom.probes.lesson_16_finder classroom.probes.lesson_16_live "
    "classroom.probes.lesson_16_runs classroom.probes.lesson_16_scenarios "
    "classroom.probes.lesson_16_versions noise plan plots rates ||",
    "classroom.probes.lesson_12_versions": "| numpy |",
    "classroom.probes.lesson_12_schedules": "classroom.plain "
    "classroom.probes.lesson_12_versions | numpy |",
    "classroom.probes.lesson_12_live": "data loop model | numpy | torch",
    "classroom.probes.lesson_12": "classroom.plain classroom.probes.attempt "
    "classroom.probes.lesson_12_live classroom.probes.lesson_12_schedules "
    "classroom.probes.lesson_12_versions plots records widgets | numpy |",
    "classroom.probes.lesson_13_versions": "| numpy |",
    "classroom.probes.lesson_13_curves": "||",
    "classroom.probes.lesson_13_rows": "classroom.probes.bigram counts loop | torch |",
    "classroom.probes.lesson_13_ways": "classroom.probes.bigram classroom.probes.lesson_13_rows "
    "classroom.probes.lesson_13_versions counts loop | torch |",
    "classroom.probes.lesson_13_meter": "classroom.probes.bigram "
    "classroom.probes.lesson_13_rows | torch |",
    "classroom.probes.lesson_13_runs": "classroom.plain noise widgets | numpy |",
    "classroom.probes.lesson_13": "classroom.plain classroom.probes.attempt "
    "classroom.probes.lesson_13_curves "
    "classroom.probes.lesson_13_meter classroom.probes.lesson_13_rows "
    "classroom.probes.lesson_13_runs classroom.probes.lesson_13_versions "
    "classroom.probes.lesson_13_ways noise | numpy |",
    "classroom.probes.lesson_01_versions": "| numpy |",
    "classroom.probes.lesson_01": "classroom.plain classroom.probes.attempt "
    "classroom.probes.lesson_01_versions units widgets | numpy torch |",
    "classroom.probes.lesson_02_versions": "classroom.probes.collators padding | numpy |",
    "classroom.probes.lesson_02_cases": "| numpy |",
    "classroom.probes.lesson_02_rectangles": "classroom.probes.collators | numpy |",
    "classroom.probes.lesson_02": "classroom.plain classroom.probes.attempt "
    "classroom.probes.collators classroom.probes.lesson_02_cases "
    "classroom.probes.lesson_02_rectangles classroom.probes.lesson_02_versions "
    "lengths padding units widgets "
    "| numpy |",
    "classroom.probes.lesson_08_plans": "||",
    "classroom.probes.lesson_08_versions": "classroom.probes.lesson_08_plans ||",
    "classroom.probes.lesson_08_live": "memory.trace | torch |",
    "classroom.probes.lesson_08": "classroom.plain classroom.probes.attempt "
    "classroom.probes.lesson_08_live classroom.probes.lesson_08_plans "
    "classroom.probes.lesson_08_versions widgets ||",
    # the grader: submissions of strangers, judged outside their process
    "grading._verdict": "||",
    "grading._cells": "||",
    "grading._lesson": "grading._cells ||",
    "grading._ingest": "grading._cells grading._lesson ||",
    "grading._judge": "grading._lesson grading._verdict ||",
    "grading._values": "||",
    "grading._packing": "classroom.showing grading._values | numpy |",
    "grading._unpacking": "grading._values | numpy | torch",
    "grading._codec": "classroom.showing grading._packing grading._unpacking grading._values ||",
    "grading._wire": "classroom.afar grading._codec grading._values ||",
    "grading._errors": "classroom.afar classroom.behaviour classroom.showing classroom.verdict ||",
    "grading._far": "classroom.afar classroom.behaviour classroom.planted grading._errors "
    "grading._values grading._wire | numpy |",
    "grading._known": "grading._codec grading._values | numpy |",
    "grading._student": "grading._cells grading._errors grading._far grading._wire ||",
    "grading._checker": "classroom.afar classroom.showing classroom.term classroom.verdict "
    "grading._cells grading._far grading._known grading._values grading._wire ||",
    "grading._kernel": "||",
    "grading._jail": "grading._kernel ||",
    "grading._probe": "||",
    "grading._public": "grading._cells ||",
    "grading._zygote": "grading._checker grading._jail grading._kernel grading._probe "
    "grading._public grading._student grading._wire ||",
    "grading._processes": "||",
    "grading._limits": "grading._processes ||",
    "grading._supervisor": "classroom.afar grading._jail grading._limits grading._processes "
    "grading._wire ||",
    "grading._folder": "||",
    "grading._revision": "grading._lesson ||",
    "grading._engine": "classroom.afar grading._folder grading._ingest grading._jail "
    "grading._judge grading._lesson grading._limits grading._probe grading._revision "
    "grading._supervisor grading._verdict grading._wire ||",
    "grading._alone": "classroom.term grading._checker grading._ingest grading._judge "
    "grading._known grading._lesson grading._limits grading._public grading._student "
    "grading._verdict grading._wire ||",
    "grading": "grading._alone grading._engine grading._jail grading._verdict ||",
    "cli.check": "cli._answer grading ||",
    "authoring": "||",
    "authoring.address": "||",
    "authoring.catalogue": "authoring.address ||",
    "authoring.conventions": "||",
    "authoring.forks": "||",
    "authoring.prose": "||",
    "authoring.claims": "authoring.catalogue ||",
    "authoring.pages": "authoring.catalogue authoring.claims authoring.prose ||",
    "authoring.parcels": "authoring.catalogue ||",
    "authoring.sources": "authoring.address authoring.catalogue authoring.conventions "
    "authoring.prose || jupytext nbformat nbgrader "
    "traitlets",
    "authoring.trial": "authoring.conventions authoring.forks ||",
    "authoring.matrix": "authoring.trial ||",
    "authoring.seeds": "authoring.trial ~classroom.check ||",
    # submissions become grades, and the verbs that ask for it
    "grading._course": "reading ||",
    "grading._crew": "grading._course grading._lesson grading._revision ||",
    "grading._items": "||",
    "grading._inbox": "grading._course grading._items ||",
    "grading._names": "||",
    "grading._record": "grading._names grading._verdict ||",
    "grading._class": "grading._course grading._crew grading._inbox grading._items grading._record "
    "grading._verdict ||",
    "grading._gradescope": "grading._class grading._course grading._inbox grading._record ||",
    "grading._points": "grading._course grading._record reading ||",
    "grading._feedback": "grading._names grading._points grading._record grading._verdict ||",
    "grading._handback": "grading._feedback grading._inbox grading._names grading._points ||",
    "grading._rehearsal": "grading._class grading._course grading._inbox grading._record reading "
    "||",
    "grading._tables": "grading._course grading._names grading._points reading ||",
    "grading._gradebook": "grading._course grading._feedback grading._items grading._names "
    "grading._points grading._record grading._tables reading || nbgrader sqlalchemy",
    "grading._worker": "grading._revision ||",
    "grading.desk": "grading._class grading._course grading._feedback grading._gradebook "
    "grading._gradescope grading._handback grading._inbox grading._names grading._points "
    "grading._record grading._rehearsal grading._tables ||",
    "grading.gradescope": "grading._gradescope grading._record ||",
    "cli.course_doctor": "cli._answer cli._progress cli.options ~grading.desk report ||",
    "cli.course_export": "~authoring.parcels cli._answer cli.options ~grading.desk report ||",
    "cli.course_grade": "cli._answer cli._progress cli.options ~grading.desk report ||",
    "cli.course_release": "~authoring.parcels ~authoring.seeds cli._answer cli._progress "
    "cli.options ~grading.desk ||",
}
GRADES = ("cli.course_", "cli.check")  # the verbs of the command line that open the classroom
LIGHT_AT_IMPORT = {"torch", "transformers", "datasets", "matplotlib", "ipywidgets", "anywidget"}


def name_of(path: Path) -> str:
    """`packing._pack` for batchlab/packing/_pack.py, `packing` for its face."""
    parts = path.relative_to(HOUSE).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


FILES = {name_of(path): path for path in sorted(HOUSE.rglob("*.py"))}


def room_of(name: str) -> tuple[set[str], set[str], set[str]]:
    ours, libraries, inside = (set(part.split()) for part in ROOMS[name].split("|"))
    return ours, libraries, inside


def uses_of(name: str) -> set[str]:
    return {used.removeprefix("~") for used in room_of(name)[0]}


def imports(tree: ast.AST, *, in_function: bool = False) -> Iterator[tuple[str, bool]]:
    """Every imported name with its module, and whether a function does it; no type-only ones."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            continue
        deeper = in_function or isinstance(
            node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
        )
        if isinstance(node, ast.Import):
            yield from ((alias.name, deeper) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "relative imports hide the room they enter"
            yield from ((f"{node.module}.{alias.name}", deeper) for alias in node.names)
        yield from imports(node, in_function=deeper)


def found_in(tree: ast.AST) -> tuple[set[str], set[str], set[str]]:
    """Files of batchlab, libraries at import, libraries inside functions."""
    ours, later, at_import, inside = set(), set(), set(), set()
    for name, deeper in imports(tree):
        package, _, rest = name.partition(".")
        if package == "batchlab":
            file = rest if rest in FILES else rest.rpartition(".")[0]
            (later if deeper else ours).add(file)
        elif package not in sys.stdlib_module_names:
            (inside if deeper else at_import).add(package)
    uses = ours | {f"~{file}" for file in later - ours}
    return uses - {"", "~"}, at_import, inside - at_import


@pytest.mark.parametrize("name", FILES)
def test_a_file_imports_exactly_what_its_room_says(name):
    assert found_in(ast.parse(FILES[name].read_text(encoding="utf-8"))) == room_of(name)


def test_the_house_has_no_stairs_leading_up():
    above: set[str] = set()
    for name in ROOMS:
        up = uses_of(name) - above
        assert not up, f"{name} imports from below itself: {sorted(up)}"
        above.add(name)


def test_every_file_stands_in_the_table():
    assert set(ROOMS) == set(FILES)


@pytest.mark.parametrize("name", FILES)
def test_nobody_opens_a_private_file_of_another_door_or_asks_its_own_face(name):
    own = name.split(".")[0]
    for used in uses_of(name):
        door, _, rest = used.partition(".")
        assert door == own or not rest.startswith("_"), f"{used} is private to {door}"
        assert used != own or "." not in name, f"{name} stands behind {own}: ask a sibling"


@pytest.mark.parametrize("name", [name for name, path in FILES.items() if path.stem == "__init__"])
def test_a_face_hands_on_names_and_has_no_code(name):
    tree = ast.parse(FILES[name].read_text(encoding="utf-8"))
    if name:
        kinds = ast.Expr | ast.ImportFrom | ast.Assign
        assert all(isinstance(node, kinds) for node in tree.body), "a face holds no code"


def test_the_library_never_imports_what_teaches():
    teaches = ("classroom", "authoring", "grading")
    for name in ROOMS:
        if not name.startswith((*teaches, *GRADES)):
            assert not any(used.startswith(teaches) for used in uses_of(name)), name


def test_the_judge_of_this_table_sees_an_import_inside_a_function_and_not_one_for_types():
    """The mistake beside the law: a hidden import is an import."""
    hidden = "def f():\n    import torch\n    from batchlab import loop"
    assert found_in(ast.parse(hidden)) == ({"~loop"}, set(), {"torch"})
    typed = "if TYPE_CHECKING:\n    import torch\nfrom batchlab.packing import pack, _pack"
    assert found_in(ast.parse(typed)) == ({"packing", "packing._pack"}, set(), set())


def loaded_with(name: str, seen: set[str]) -> set[str]:
    """Libraries that arrive when a file is imported, by the table."""
    if name in seen:
        return set()
    seen.add(name)
    ours, libraries, _ = room_of(name)
    at_import = [used for used in ours if not used.startswith("~")]
    at_import += [name.rpartition(".")[0]]  # Python imports the face before what is behind it
    return libraries.union(*(loaded_with(used, seen) for used in at_import))


ARITHMETIC = [
    name for name in ROOMS if name != "__main__" and loaded_with(name, set()) <= {"numpy"}
]


def test_the_arithmetic_rooms_never_load_torch():
    """Judged by Python itself, in a fresh process: neither torch nor a drawing library arrives."""
    assert {"packing", "plan", "memory", "doctor.throughput", "cli", "report"} <= set(ARITHMETIC)
    code = (
        f"import importlib, sys\n"
        f"for room in {ARITHMETIC!r}: importlib.import_module(('batchlab.' + room).rstrip('.'))\n"
        f"print(sorted({LIGHT_AT_IMPORT!r} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_importing_batchlab_imports_nothing_else():
    code = "import sys; before = set(sys.modules); import batchlab; "
    code += "print(sorted(set(sys.modules) - before))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "['batchlab']"


@pytest.mark.parametrize("name", FILES)
def test_a_file_says_what_it_is_and_stays_readable(name):
    source = FILES[name].read_text(encoding="utf-8")
    tree = ast.parse(source)
    assert ast.get_docstring(tree), "a file opens with its subject"
    assert len(source.splitlines()) <= 320, "about 250 lines a file: split the subject"
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef):
            docstring = len((ast.get_docstring(node) or "").splitlines())
            length = (node.end_lineno or 0) - node.lineno + 1 - docstring
            assert length <= 60, f"{node.name}: {length} lines of code; about 40 fit a screen"
